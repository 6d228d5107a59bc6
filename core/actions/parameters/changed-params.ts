import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../../query/parse-place.ts'
import { assertWrittenParameters } from '../../query/written-parameters.ts'
import type { Params } from '../action-params.ts'
import { toPlain } from './plain-values.ts'

/**
 * Parameters of a request as document middlewares left them. They write values as for an action of code: dates, and `start`
 * and `limit` without `pagination`. The client's own parameters stay as they are.
 */
export function toChangedParams(changed: Params, original: Params): Params {
  assertWrittenParameters(changed, original, PLACE)
  const entries = Object.entries(changed).filter(([, value]) => value !== undefined)
  const isWritten = ([key, value]: [string, unknown]) => !isDeepStrictEqual(value, original[key])
  const written = Object.fromEntries(
    entries.filter(isWritten).map(([key, value]) => [key, toPlain(value, key)]),
  )
  const { start, limit, ...others } = written
  const kept = Object.fromEntries(entries.filter(entry => !isWritten(entry)))
  if (start === undefined && limit === undefined) return { ...kept, ...others }
  const { pagination = kept.pagination } = others
  const page = { ...(start !== undefined && { start }), ...(limit !== undefined && { limit }) }
  return { ...kept, ...others, pagination: { ...(isRecord(pagination) && pagination), ...page } }
}

const PLACE = { where: 'context.params', also: ['documentId', 'data'] }
