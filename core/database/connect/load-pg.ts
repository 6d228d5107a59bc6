import { createRequire } from 'node:module'
import { once } from '../../base/memo.ts'

const require = createRequire(import.meta.url)

/**
 * Loads pg at the first connection. pg looks for Cloudflare's runtime: in `navigator`, or, where there is none (Node 20), in a
 * `Response`, which makes Node load fetch, HTTP/2 and web streams.
 */
export const loadPg = once((): typeof import('pg') => {
  const isMissing = !('navigator' in globalThis)
  if (isMissing)
    Object.defineProperty(globalThis, 'navigator', { value: { userAgent: 'Node.js' }, configurable: true })
  try {
    return require('pg')
  } finally {
    if (isMissing) Reflect.deleteProperty(globalThis, 'navigator')
  }
})
