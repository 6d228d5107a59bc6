import { isRecord } from '../query/parse-place.ts'
import type { Act, Params } from './act.ts'
import { refuse } from './unwrap-result.ts'

/** As REST's parsers take them. Without a status it is the draft's, as code expects of a document service. */
export const toParameters = ({ type }: Act, params: Params): Params => ({
  ...params,
  status: params.status ?? (type.draftAndPublish ? 'draft' : 'published'),
})

/** The documentId of the parameters; null for the only one of a single type. */
export function documentIdOf({ documentId }: Params, { type }: Act): string | null {
  if (typeof documentId === 'string' && documentId !== '') return documentId
  if (documentId === undefined && type.kind === 'single') return null
  throw refuse(`documentId must be the documentId of a document of ${type.key}`, 'documentId')
}

/** More than any table has. */
const ALL = 2_147_483_647

/**
 * Pages as code gives them, by numbers (`start` and `limit` also at the top) → as a query string has them. All
 * documents where nothing is said, or `limit: -1`.
 */
export function toPagination(params: Params): Params {
  const { start, limit, pagination = {}, ...others } = params
  if (!isRecord(pagination)) throw refuse('pagination must be an object', 'pagination')
  const unknown = Object.keys(pagination).find(key => !PAGE_KEYS.includes(key))
  if (unknown !== undefined)
    throw refuse(`Unknown key ${unknown} of pagination: it takes ${PAGE_KEYS.join(', ')}`, unknown)
  const given = {
    ...pagination,
    ...(start !== undefined && { start }),
    ...(limit !== undefined && { limit }),
  }
  const texts = Object.entries(given).map(([key, value]) => [key, pageText(key, value)])
  const paged = 'page' in given || 'pageSize' in given
  return { ...others, pagination: { ...(paged ? {} : { limit: String(ALL) }), ...Object.fromEntries(texts) } }
}

const PAGE_KEYS: readonly string[] = ['page', 'pageSize', 'start', 'limit']

function pageText(key: string, value: unknown): string {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (key === 'limit' && number === -1) return String(ALL)
  const least = key === 'start' ? 0 : 1
  if (typeof number === 'number' && Number.isInteger(number) && number >= least) return String(number)
  throw refuse(`Invalid ${key}: expected a whole number from ${least}`, key)
}

/** Code may ask for as many as there are; pages are as long as REST's where nothing is said. */
export const unlimited = ({ prefix, defaultLimit }: Act['terms']['settings']) => ({
  prefix,
  defaultLimit,
  maxLimit: ALL,
  withCount: false,
})
