import { didYouMean } from '../base/nearest.ts'
import type { Result } from '../base/result.ts'
import type { Fault } from '../faults/fault.ts'
import type { Holder } from '../model/model.ts'
import { OPERATOR_NAMES } from '../query/operators.ts'
import { isRecord, targetHolder } from '../query/parse-place.ts'
import { type ActionCall, invalidParam, type Params, unwrapOrThrow } from './action-call.ts'

/** Runs one of REST's parsers. Adds the nearest known name to a fault about an unknown one, and throws it. */
export function parseWithSuggestions<Value>(holder: Holder, parse: () => Result<Value, Fault>): Value {
  const parsed = parse()
  return unwrapOrThrow(
    parsed.ok ? parsed : { ok: false, reasons: parsed.reasons.map(each => addSuggestion(each, holder)) },
  )
}

function addSuggestion(fault: Fault, holder: Holder): Fault {
  const { key, path, expected } = fault.details
  if (typeof key !== 'string' || key === '' || expected !== undefined) return fault
  const holderAtPath = typeof path === 'string' ? placeAt(path.split('.'), key, holder) : holder
  const near = didYouMean(key, key.startsWith('$') ? OPERATOR_WORDS : (holderAtPath?.attributes.keys() ?? []))
  return near === '' ? fault : { ...fault, message: `${fault.message}${near}` }
}

const OPERATOR_WORDS = [...OPERATOR_NAMES, '$and', '$or', '$not']

/** The holder at a dotted path, without its last name if that is the key itself; null: the path leads nowhere. */
function placeAt(path: readonly string[], key: string, start: Holder): Holder | null {
  const names = path.at(-1) === key ? path.slice(0, -1) : path
  return names.reduce<Holder | null>((holder, name) => {
    const attribute = holder?.attributes.get(name)
    return attribute ? targetHolder(attribute) : null
  }, start)
}

/** Parameters for REST's parsers. `status` defaults to `draft`, as in Strapi's document service. */
export const toParameters = ({ type }: ActionCall, params: Params): Params => ({
  ...params,
  status: params.status ?? (type.draftAndPublish ? 'draft' : 'published'),
})

/** The documentId of the parameters; null for a single type. */
export function parseDocumentId({ documentId }: Params, { type }: ActionCall): string | null {
  if (typeof documentId === 'string' && documentId !== '') return documentId
  if (documentId === undefined && type.kind === 'single') return null
  throw invalidParam(`documentId must be the documentId of a document of ${type.key}`, 'documentId')
}

/** No limit: more rows than a table can have. */
const ALL = 2_147_483_647

/**
 * Converts `pagination` with numbers, and the top-level `start` and `limit`, to the form of a query string. Without a
 * limit, or with `limit: -1`, it selects all documents.
 */
export function toPagination(params: Params): Params {
  const { start, limit, pagination = {}, ...others } = params
  if (!isRecord(pagination)) throw invalidParam('pagination must be an object', 'pagination')
  const unknown = Object.keys(pagination).find(key => !PAGE_KEYS.includes(key))
  if (unknown !== undefined)
    throw invalidParam(`Unknown key ${unknown} of pagination: it takes ${PAGE_KEYS.join(', ')}`, unknown)
  const page = {
    ...pagination,
    ...(start !== undefined && { start }),
    ...(limit !== undefined && { limit }),
  }
  const texts = Object.entries(page).map(([key, value]) => [key, pageText(key, value)])
  const paged = 'page' in page || 'pageSize' in page
  return { ...others, pagination: { ...(paged ? {} : { limit: String(ALL) }), ...Object.fromEntries(texts) } }
}

const PAGE_KEYS: readonly string[] = ['page', 'pageSize', 'start', 'limit']

function pageText(key: string, value: unknown): string {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (key === 'limit' && number === -1) return String(ALL)
  const least = key === 'start' ? 0 : 1
  if (typeof number === 'number' && Number.isInteger(number) && number >= least) return String(number)
  throw invalidParam(`Invalid ${key}: expected a whole number from ${least}`, key)
}

/** Settings without a maximum limit; the default page size is REST's. */
export const unlimitedSettings = ({ prefix, defaultLimit }: ActionCall['terms']['settings']) => ({
  prefix,
  defaultLimit,
  maxLimit: ALL,
  withCount: false,
})
