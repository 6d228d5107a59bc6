import { entityTag } from '../../base/entity-tag.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import type { Fault } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import { isRecord } from '../../query/parse-place.ts'
import { parseValue } from '../../query/parse-value.ts'
import type { After, Sort, Value } from '../../query/query.ts'
import { SEPARATOR } from '../../sql/print.ts'
import { badCursor } from './parse-pagination.ts'

/** What a cursor holds: of which order it is a place, the values there, and the row's id. */
type Held = readonly [order: string, keys: readonly unknown[], id: number]

/** The place that a cursor names in this order; the first one where it is empty. */
export function parseCursor(text: string, type: ContentType, sorts: readonly Sort[]): Result<After, Fault> {
  if (sorts.some(({ attribute }) => JSON_TYPES.has(attribute.type)))
    return failed(badCursor('a list that is sorted by JSON has no cursors'))
  if (sorts.length > MOST_SORTS)
    return failed(badCursor(`a list with cursors is sorted by ${MOST_SORTS} attributes at most`))
  if (text === '') return ok('first')
  const held = unpack(text)
  if (!held) return failed(badCursor('this is no cursor'))
  const [order, keys, id] = held
  if (order !== orderOf(type, sorts))
    return failed(badCursor('this cursor is of another list, or of another sort'))
  const values = keys.map((key, index) => toValue(key, sorts[index]))
  const given = values.filter(value => value !== undefined)
  if (given.length !== sorts.length || values.length !== sorts.length)
    return failed(badCursor('this is no cursor'))
  return ok({ keys: given, id })
}

/** What lies behind a place of an order takes comparisons by the square of its attributes. */
const MOST_SORTS = 10

const JSON_TYPES: ReadonlySet<string> = new Set(['json', 'blocks', 'array'])

/** undefined: it is no value of the attribute. */
function toValue(key: unknown, sort: Sort | undefined): Value | null | undefined {
  if (key === null) return null
  if (sort === undefined || typeof key === 'object') return undefined
  const value = parseValue(sort.attribute, key)
  return value.ok ? value.value : undefined
}

function unpack(text: string): Held | null {
  let held: unknown
  try {
    held = JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return null
  }
  if (!Array.isArray(held) || held.length !== 3) return null
  const [order, keys, id] = held as readonly unknown[]
  const isPlace = typeof order === 'string' && Array.isArray(keys) && isId(id)
  return isPlace ? [order, keys, id] : null
}

const LARGEST = 2_147_483_647

const isId = (id: unknown): id is number => Number.isInteger(id) && Number(id) >= 0 && Number(id) <= LARGEST

/** A text of documents with what stands behind it (`{ k0, k1, …, id }` of the last, and of the one behind) → both apart. */
export function takeCursor(
  text: string,
  type: ContentType,
  sorts: readonly Sort[],
): { readonly documents: string; readonly next: string | null } {
  const end = text.indexOf(SEPARATOR)
  const [last, behind]: unknown[] = JSON.parse(text.slice(end + 1))
  const documents = text.slice(0, end)
  if (behind === undefined || !isRecord(last)) return { documents, next: null }
  const held: Held = [
    orderOf(type, sorts),
    sorts.map((_, index) => last[`k${index}`] ?? null),
    Number(last.id),
  ]
  return { documents, next: Buffer.from(JSON.stringify(held)).toString('base64url') }
}

/** Equal for equal orders of one content-type; short, for it stands in each cursor. */
function orderOf({ uid }: ContentType, sorts: readonly Sort[]): string {
  const words = sorts.map(({ path, attribute, direction }) =>
    [...path.map(step => step.attribute.name), attribute.name, direction].join('.'),
  )
  return entityTag(`${uid} ${words.join()}`).slice(0, 8)
}
