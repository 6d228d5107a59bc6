import { hash } from 'node:crypto'
import { INTEGER } from '../../base/integers.ts'
import { type Fault, fault, RequestFault } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import { ESTIMATE_LIMIT } from '../../plan/plan-query.ts'
import type { RestSettings } from '../../project/settings/settings.ts'
import { isRecord } from '../../query/parse-place.ts'
import { parseValue } from '../../query/parse-value.ts'
import type { Page, PageCursor, Sort, TotalChoice, Value } from '../../query/query.ts'
import { SEPARATOR } from '../../sql/print.ts'
import type { Params } from '../action-params.ts'

/** The page of a list and the form of its `meta.pagination` (reference/rest.md#5-pagination). */
export interface PaginationParams {
  readonly form: 'page' | 'offset' | 'cursor'
  readonly start: number
  readonly limit: number
  readonly withCount: TotalChoice
  /** The given cursor, if `form` is `cursor`; empty for the first page. */
  readonly after?: string
}

type Limits = Omit<RestSettings, 'prefix'>

export function parsePagination(parameters: Params, limits: Limits): PaginationParams {
  if (parameters.page !== undefined || parameters.pageSize !== undefined) throw new RequestFault(misplaced())
  const raw = isRecord(parameters.pagination) ? dropNulls(parameters.pagination) : {}
  const paged = raw.page !== undefined || raw.pageSize !== undefined
  const offset = raw.start !== undefined || raw.limit !== undefined
  if (paged && offset) throw new RequestFault(mixed())
  if (raw.after !== undefined) return parseByCursor(raw, limits)
  const limit = parseLimit(offset ? raw.limit : raw.pageSize, limits)
  const start = offset ? parseStart(raw.start, 0) : (parseStart(raw.page, 1, 1) - 1) * limit
  if (!Number.isInteger(start)) throw new RequestFault(notPositive('Start', start))
  return withCountOption({ form: offset ? 'offset' : 'page', start, limit }, raw, limits)
}

/** A name without `=` is ignored. */
const dropNulls = (raw: Params): Params =>
  Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null))

/** Keyset pagination: a page begins after a row, whatever was inserted before it meanwhile. */
function parseByCursor(raw: Params, limits: Limits): PaginationParams {
  const { after, page, start } = raw
  if (page !== undefined || start !== undefined)
    throw new RequestFault(mixedCursor(page === undefined ? 'start' : 'page'))
  if (typeof after !== 'string') throw new RequestFault(badCursor('expected one text'))
  const limit = parseLimit(raw.pageSize ?? raw.limit, limits)
  return withCountOption({ form: 'cursor', start: 0, limit, after }, raw, limits)
}

/** Adds `withCount`, and checks the limit. */
function withCountOption(
  cut: Omit<PaginationParams, 'withCount'>,
  { withCount: word }: Params,
  limits: Limits,
): PaginationParams {
  if (!Number.isInteger(cut.limit)) throw new RequestFault(notPositive('Limit', cut.limit))
  const withCount = word === undefined ? limits.withCount : COUNT_WORDS.get(word)
  if (withCount === undefined) throw new RequestFault(badCount())
  return { ...cut, withCount }
}

function parseStart(raw: unknown, fallback: number, least = 0): number {
  if (raw === undefined) return fallback
  return typeof raw === 'string' ? Math.max(least, Number(raw)) : Number.NaN
}

/** Clamped to 1 and `maxLimit`; `maxLimit` if it is not a number. */
function parseLimit(raw: unknown, { defaultLimit, maxLimit }: Limits): number {
  if (raw === undefined) return Math.min(defaultLimit, maxLimit)
  const number = typeof raw === 'string' ? Number(raw) : Number.NaN
  return Number.isNaN(number) ? maxLimit : Math.min(maxLimit, Math.max(1, number))
}

const COUNT_WORDS: ReadonlyMap<unknown, TotalChoice> = new Map<unknown, TotalChoice>([
  ['t', true],
  ['1', true],
  ['true', true],
  ['f', false],
  ['0', false],
  ['false', false],
  ['estimate', 'estimate'],
])

export const pageOf = ({ start, limit }: PaginationParams): Page => ({ start, limit })

/** The JSON of `meta.pagination`. `found`: null if no total is requested. `next`: the cursor of the next page. */
export function printPagination(
  { form, start, limit, withCount }: PaginationParams,
  found: number | null,
  next: string | null = null,
): string {
  const isEstimate = withCount === 'estimate'
  const total = found !== null && isEstimate ? Math.min(found, ESTIMATE_LIMIT) : found
  const exactness = isEstimate ? `,"totalIsExact":${total === found}` : ''
  const sum = total === null ? '' : `,"total":${total}${exactness}`
  if (form === 'cursor') return `{"pageSize":${limit},"next":${next === null ? null : `"${next}"`}${sum}}`
  if (form === 'offset') return `{"start":${start},"limit":${limit}${sum}}`
  const count = total === null ? '' : `,"pageCount":${Math.ceil(total / limit)}${sum}`
  return `{"page":${Math.floor(start / limit) + 1},"pageSize":${limit}${count}}`
}

/** Cache key of a pagination: equal for equal `meta.pagination`. */
export const paginationKey = ({ form, start, limit, withCount }: PaginationParams): string =>
  `${form} ${start} ${limit}${withCount === 'estimate' ? ' estimate' : ''}`

const mixed = (): Fault => fault('pagination', 'Cannot use both page & offset pagination in the same query')

const mixedCursor = (key: string): Fault =>
  fault(
    'pagination',
    `Cannot use pagination[after] and pagination[${key}] in the same query: a cursor says where a page begins`,
  )

/** `why`: the reason why the cursor is invalid. */
export const badCursor = (why: string): Fault =>
  fault(
    'pagination',
    `Invalid pagination[after]: ${why}. It takes meta.pagination.next of the page before, with the same sort; nothing for the first page`,
  )

const misplaced = (): Fault =>
  fault(
    'pagination',
    'Invalid pagination attributes. The page parameters are incorrect and must be in the pagination object',
  )

const notPositive = (which: 'Start' | 'Limit', found: number): Fault =>
  fault('validation', `convert${which}QueryParams expected a positive integer got ${found}`)

const badCount = (): Fault =>
  fault('validation', 'Invalid withCount parameter. Expected "t","1","true","false","0","f"')

/**
 * Page of a list without an envelope (reference/rest.md#14-access, reference/rest.md#15-upload), by the top-level `start` and `limit`; `pagination` is
 * ignored. Without a limit (absent, empty, 0 or -1, as in Strapi) it is `most`.
 */
export function parseTopPage({ start, limit }: Params, most: number): Page {
  const from = parseCount(start, 0)
  if (from === null) throw new RequestFault(notCount('start'))
  const number = limit === '-1' || limit === '0' ? most : parseCount(limit, most)
  if (number === null) throw new RequestFault(notCount('limit'))
  return { start: from, limit: Math.min(number, most) }
}

const parseCount = (raw: unknown, fallback: number): number | null => {
  if (raw === undefined || raw === '') return fallback
  return typeof raw === 'string' && /^\d{1,9}$/.test(raw) ? Number(raw) : null
}

const notCount = (key: string): Fault =>
  fault('validation', `Invalid ${key}: expected a number from 0`, { key, expected: 'a number from 0' })

/** A cursor's content: a digest of the order, the sort values of the last row, and its id. */
type CursorContent = readonly [order: string, keys: readonly unknown[], id: number]

/** Parses a cursor for this order; an empty one is the first page. */
export function parseCursor(text: string, type: ContentType, sorts: readonly Sort[]): PageCursor {
  if (sorts.some(({ attribute }) => JSON_TYPES.has(attribute.type)))
    throw new RequestFault(badCursor('a list that is sorted by JSON has no cursors'))
  if (sorts.length > MAX_SORTS)
    throw new RequestFault(badCursor(`a list with cursors is sorted by ${MAX_SORTS} attributes at most`))
  if (text === '') return 'first'
  const content = decode(text)
  if (!content) throw new RequestFault(badCursor('this is no cursor'))
  const [order, keys, id] = content
  if (order !== orderDigest(type, sorts))
    throw new RequestFault(badCursor('this cursor is of another list, or of another sort'))
  const values = keys.map((key, index) => toValue(key, sorts[index]))
  const input = values.filter(value => value !== undefined)
  if (input.length !== sorts.length || values.length !== sorts.length)
    throw new RequestFault(badCursor('this is no cursor'))
  return { keys: input, id }
}

/** The condition for the following rows grows with the square of the sort attributes. */
const MAX_SORTS = 10

const JSON_TYPES: ReadonlySet<string> = new Set(['json', 'blocks', 'array'])

/** undefined: not a value of the attribute. */
function toValue(key: unknown, sort: Sort | undefined): Value | null | undefined {
  if (key === null) return null
  if (sort === undefined || typeof key === 'object') return undefined
  const value = parseValue(sort.attribute, key)
  return value.ok ? value.value : undefined
}

function decode(text: string): CursorContent | null {
  let content: unknown
  try {
    content = JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return null
  }
  if (!Array.isArray(content) || content.length !== 3) return null
  const [order, keys, id] = content as readonly unknown[]
  const isCursor = typeof order === 'string' && Array.isArray(keys) && isId(id)
  return isCursor ? [order, keys, id] : null
}

const isId = (id: unknown): id is number =>
  Number.isInteger(id) && Number(id) >= 0 && Number(id) <= INTEGER.most

/** Splits a list's text into its documents and the cursor of the next page. The text ends with the sort values
 *  (`{ k0, k1, …, id }`) of the last row and of the row after it. */
export function splitCursor(
  text: string,
  type: ContentType,
  sorts: readonly Sort[],
): { readonly documents: string; readonly next: string | null } {
  const end = text.indexOf(SEPARATOR)
  const [last, following]: unknown[] = JSON.parse(text.slice(end + 1))
  const documents = text.slice(0, end)
  if (following === undefined || !isRecord(last)) return { documents, next: null }
  const content: CursorContent = [
    orderDigest(type, sorts),
    sorts.map((_, index) => last[`k${index}`] ?? null),
    Number(last.id),
  ]
  return { documents, next: Buffer.from(JSON.stringify(content)).toString('base64url') }
}

/** A short digest of a content-type's sort order: a cursor is valid only for the order it was made for. */
function orderDigest({ uid }: ContentType, sorts: readonly Sort[]): string {
  const words = sorts.map(({ path, attribute, direction }) =>
    [...path.map(step => step.attribute.name), attribute.name, direction].join('.'),
  )
  return hash('sha1', `${uid} ${words.join()}`, 'base64url').slice(0, 8)
}
