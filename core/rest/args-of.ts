import type { ReadArgs } from '../plugins/rest-context.ts'
import { type Parameters, parseQueryString } from './parse-query-string.ts'

/** What plugins see of a request's parameters; a query string that cannot be read has none, and its route says why. */
export const argsOf =
  (named: Parameters): ReadArgs =>
  search => {
    const parsed = parseQueryString(search)
    return { ...(parsed.ok ? parsed.value : {}), ...named }
  }
