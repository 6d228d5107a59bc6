import { isDeepStrictEqual } from 'node:util'
import { EVENT_ACTIONS } from '../../documents/outbox.ts'
import type { DocumentAction } from '../../plugins/services/documents-api.ts'
import { isRecord } from '../../query/parse-place.ts'
import { assertWrittenParameters } from '../../query/written-parameters.ts'
import { invalidParam, type Params } from '../action-params.ts'
import { toPlain } from './plain-values.ts'

/**
 * Parameters of a request as document middlewares left them. They write values as for an action of code: dates, and `start`
 * and `limit` without `pagination`. The client's own parameters stay as they are.
 */
export function toChangedParams(changed: Params, original: Params, action: DocumentAction): Params {
  assertEffective(changed, original, action)
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

/** A condition that a middleware adds to a write would be ignored: the write would reach documents that it excludes. */
function assertEffective(changed: Params, original: Params, action: DocumentAction): void {
  if (!WRITES_ONE.has(action)) return
  const key = OF_LISTS.find(
    each => changed[each] !== undefined && !isDeepStrictEqual(changed[each], original[each]),
  )
  if (key !== undefined)
    throw invalidParam(
      `${key} of context.params has no effect on ${action}, which writes one document: decide with previous() before next()`,
      key,
    )
}

const WRITES_ONE: ReadonlySet<DocumentAction> = new Set(EVENT_ACTIONS)

const OF_LISTS: readonly string[] = [
  ...['filters', '_q', 'search', 'highlight', 'sort', 'pagination', 'start', 'limit'],
  ...['publicationFilter', 'hasPublishedVersion', 'publicationState'],
]
