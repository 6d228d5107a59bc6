import type { GraphQLResolveInfo } from 'graphql'
import { CODE_SLOT } from '../../plan/layout.ts'
import type { AnsweredRow } from '../resolve/resolvers.ts'
import type { CustomField, CustomFieldRow, PlaceSteps, SlotRun } from './custom-field.ts'
import type { TextRoot } from './text-operation.ts'

// Slots of custom fields in a text that PostgreSQL builds. A text may be long and a resolver needs few values of it: only the
// texts of rows are parsed.

/** The path of a value in the answer. */
export type AnswerPath = GraphQLResolveInfo['path']

/** One slot of a custom field in a text. */
export interface FoundSlot {
  readonly field: CustomField
  /** The row that project code gets. */
  readonly row: AnsweredRow
}

export interface SlotText {
  /** The text around the slots: one part more than there are slots. */
  readonly parts: readonly string[]
  readonly slots: readonly FoundSlot[]
}

/** Finds the slots of a text, in document order. */
export function readSlots(text: string, fields: readonly CustomField[]): SlotText {
  const { parts, inner } = splitAtSlots(text)
  const found = inner.map(slot => {
    const field = fields[atOf(slot)]
    if (!field) throw new TypeError(`the text has no slot ${slot.slice(0, 20)}`)
    return field
  })
  const texts: string[] = []
  for (const [index, { row }] of found.entries()) {
    const own = rowTextOf(inner[index] ?? '')
    if (own !== null) texts.push(own, runText(parts, index, row.run))
  }
  const rows = (JSON.parse(`[${texts.join(',')}]`) as Record<string, unknown>[]).values()
  /** Of nested objects, the innermost one comes last and its row is another. */
  const latest = new Map<CustomFieldRow, AnsweredRow>()
  const slots = found.map((field, index): FoundSlot => {
    if (rowTextOf(inner[index] ?? '') !== null)
      latest.set(field.row, toRow(rows.next().value ?? {}, rows.next().value ?? {}, field.row))
    return { field, row: latest.get(field.row) ?? {} }
  })
  return { parts, slots }
}

/** `,"at":3,"row":{…}` → 3. */
const atOf = (slot: string): number => Number.parseInt(slot.slice(AT.length), 10)

/** `,"at":3,"row":{…}` → `{…}`; null: an earlier slot of the object has the row. */
function rowTextOf(slot: string): string | null {
  const begin = slot.indexOf(ROW)
  return begin < 0 ? null : slot.slice(begin + ROW.length)
}

const AT = ',"at":'
const ROW = ',"row":'

/** The row of an object: the values of its first slot, and those of the run around it. */
function toRow(row: Record<string, unknown>, run: AnsweredRow, { present }: CustomFieldRow): AnsweredRow {
  for (const [key, name] of present) row[name] = run[key]
  return row
}

/** The fields of the run around a slot as an object, without its slots. A run is in the parts around its slots only. */
function runText(parts: readonly string[], slot: number, { first, slots, last, next }: SlotRun): string {
  let text = '{'
  for (const [index, key] of slots.entries()) {
    const part = parts[slot + index] ?? ''
    const end = part.length - keyText(key).length
    const begin = index > 0 ? 1 : first === null ? end : lastBefore(part, keyText(first), end)
    text += part.slice(begin, end)
  }
  if (last !== null) {
    const part = parts[slot + slots.length] ?? ''
    return `${text}${part.slice(1, next === null ? valueEnd(part, last) : part.indexOf(`,${keyText(next)}`))}}`
  }
  return text.length === 1 ? '{}' : `${text.slice(0, -1)}}`
}

/** String.prototype.lastIndexOf compares at each character, indexOf skips most of them. */
function lastBefore(text: string, wanted: string, end: number): number {
  let last = end
  for (let at = text.indexOf(wanted); at >= 0 && at < end; at = text.indexOf(wanted, at + 1)) last = at
  return last
}

/** No value contains it: JSON escapes quotation marks in strings. */
const keyText = (key: string): string => `"${key}":`

/** Where the value of a property ends that is neither an object nor a list. */
function valueEnd(text: string, key: string): number {
  const begin = text.indexOf(`,${keyText(key)}`) + keyText(key).length + 1
  if (text[begin] !== '"') return text.indexOf('}', begin)
  let end = text.indexOf('"', begin + 1)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end + 1
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text[at - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 1
}

interface SplitText {
  readonly parts: readonly string[]
  /** The slots between their marks: `,"at":0,"row":{…}`. */
  readonly inner: readonly string[]
}

/** Splits a text at the slots of custom fields. */
export function splitAtSlots(text: string): SplitText {
  const { from, to } = CODE_SLOT
  const parts: string[] = []
  const inner: string[] = []
  let begin = 0
  for (let mark = nextMark(text, 0); mark >= 0; ) {
    const end = nextMark(text, mark + MARK.length)
    parts.push(text.slice(begin, mark - from.length))
    inner.push(text.slice(mark + MARK.length, end - to.length))
    // A slot ends with the mark and a brace.
    begin = end + MARK.length + 1
    mark = nextMark(text, begin)
  }
  parts.push(text.slice(begin))
  return { parts, inner }
}

const MARK = CODE_SLOT.mark
const ESCAPE = MARK.slice(1)

/** The next mark; -1: none. Searches for the backslash, which is rarer than the quotation mark before it. */
function nextMark(text: string, from: number): number {
  let at = text.indexOf(ESCAPE, from)
  while (at > 0 && text[at - 1] !== '"') at = text.indexOf(ESCAPE, at + 1)
  return at < 0 ? -1 : at - 1
}

/** True if a non-null field is null. Values that are only read for custom fields do not count. */
export function violatesNonNull(text: string, { nullPattern: broken, steps }: TextRoot): boolean {
  if (!broken?.test(text)) return false
  return steps.length === 0 || splitAtSlots(text).parts.some(part => broken.test(part))
}

interface PathSearch {
  readonly steps: PlaceSteps
  readonly fields: readonly CustomField[]
  /** The path of the text itself. */
  readonly root: AnswerPath
}

/** The paths of the slots in a text, in document order. It parses the whole text: few resolvers need their path. */
export function findPaths(text: string, { steps, fields, root }: PathSearch): readonly AnswerPath[] {
  const found: AnswerPath[] = []
  walk(JSON.parse(text), steps, root)
  return found

  function walk(value: unknown, steps: PlaceSteps, path: AnswerPath): void {
    if (Array.isArray(value)) {
      for (const [index, one] of value.entries()) walk(one, steps, below(path, index))
    } else if (isObject(value)) {
      for (const step of steps) {
        if (step.kind === 'inner') walk(value[step.key], step.steps, below(path, step.key))
        else found.push(below(path, step.key, fields[step.at]?.parentType.name))
      }
    }
  }
}

const below = (prev: AnswerPath, key: string | number, typename?: string): AnswerPath => ({
  prev,
  key,
  typename,
})

const isObject = (value: unknown): value is AnsweredRow => typeof value === 'object' && value !== null
