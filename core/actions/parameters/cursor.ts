import { entityTag } from '../../base/text.ts'
import { RequestFault } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import { isRecord } from '../../query/parse-place.ts'
import { parseValue } from '../../query/parse-value.ts'
import type { PageCursor, Sort, Value } from '../../query/query.ts'
import { SEPARATOR } from '../../sql/print.ts'
import { badCursor } from './parse-pagination.ts'

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
  const given = values.filter(value => value !== undefined)
  if (given.length !== sorts.length || values.length !== sorts.length)
    throw new RequestFault(badCursor('this is no cursor'))
  return { keys: given, id }
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

const MAX_ID = 2_147_483_647

const isId = (id: unknown): id is number => Number.isInteger(id) && Number(id) >= 0 && Number(id) <= MAX_ID

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
  return entityTag(`${uid} ${words.join()}`).slice(0, 8)
}
