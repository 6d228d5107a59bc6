import { type Fault, fault } from '../../faults/fault.ts'
import type { HttpRequest } from '../../faults/http-exchange.ts'

/**
 * Forms are the requests that a page of another site can have a browser send without asking this server first. One
 * that a browser sends has to come from this site, or with a header that only scripts can set: then the browser asked
 * before (CORS). Programs say nothing of where they come from, and have nobody's browser to misuse.
 */
export const isForgeable = ({ headers }: HttpRequest): boolean =>
  !ASKED_BEFORE.some(name => headers[name] !== undefined) && comesFromElsewhere(headers)

const ASKED_BEFORE = [
  'authorization',
  'apollo-require-preflight',
  'graphql-require-preflight',
  'x-apollo-operation-name',
  'x-requested-with',
]

function comesFromElsewhere({ origin, host, ...headers }: HttpRequest['headers']): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return origin !== undefined && hostOf(origin) !== host?.toLowerCase()
}

const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null)

export const forged = (): Fault =>
  fault(
    'forbidden',
    'A form from another site needs a header that its browser asks for first, such as Apollo-Require-Preflight: true',
  )
