import type { HttpResponse } from '../faults/http-exchange.ts'

const TEXT = 'text/plain; charset=utf-8'

/** The methods of a path that no responder knows (contract/rest.md 1). */
export const ALLOWED_ANYWHERE = 'HEAD, GET'

/** The answer to a method that no path has (contract/rest.md 1). */
export const notImplemented = (allow: string): HttpResponse => ({
  status: 501,
  body: 'Not Implemented',
  type: TEXT,
  headers: { Allow: allow },
})

/** The answer to a method that other paths have, but not this one. */
export const methodNotAllowed = (allow: string): HttpResponse => ({
  status: 405,
  body: 'Method Not Allowed',
  type: TEXT,
  headers: { Allow: allow },
})

/** The answer to OPTIONS on a path that no responder knows. */
export const OPTIONS_ANYWHERE: HttpResponse = {
  status: 200,
  body: '',
  type: TEXT,
  headers: { Allow: ALLOWED_ANYWHERE },
}
