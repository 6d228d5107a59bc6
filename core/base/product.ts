import { readFileSync } from 'node:fs'

/** package.json lies two folders up from here, in the sources and in dist/run/ alike. */
const manifest: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
)

export const PRODUCT_VERSION = manifest.version
