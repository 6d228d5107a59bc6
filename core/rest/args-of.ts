import type { ReadArgs } from '../plugins/services/rest-context.ts'
import { type Parameters, parseNamesAndValues } from './parse-query-string.ts'

/** What plugins see of parameters: without `=` null; none of a query string that cannot be read, whose route says why. */
export const argsOf =
  (named: Parameters): ReadArgs =>
  search => {
    const parsed = parseNamesAndValues(search)
    return { ...(parsed.ok ? parsed.value : {}), ...named }
  }
