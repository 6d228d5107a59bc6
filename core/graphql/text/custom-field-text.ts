import { CODE_PLACE } from '../../plan/layout.ts'

/** What PostgreSQL wrote before, between and behind the places of code: one part more than there are places. */
export function partsOf(text: string): readonly string[] {
  const { from } = CODE_PLACE
  const parts: string[] = []
  let begin = 0
  for (let mark = nextMark(text, 0); mark >= 0; ) {
    const end = nextMark(text, mark + MARK.length)
    parts.push(text.slice(begin, mark - from.length))
    // The place ends with the mark and a brace.
    begin = end + MARK.length + 1
    mark = nextMark(text, begin)
  }
  parts.push(text.slice(begin))
  return parts
}

const MARK = CODE_PLACE.mark
const ESCAPE = MARK.slice(1)

/** Backslashes are rare, and so found faster than the quotation mark before one. -1: there is none. */
function nextMark(text: string, from: number): number {
  let at = text.indexOf(ESCAPE, from)
  while (at > 0 && text[at - 1] !== '"') at = text.indexOf(ESCAPE, at + 1)
  return at < 0 ? -1 : at - 1
}

/** A value that must not be null and is: whatever lies so many objects and lists above it becomes null. */
export interface Broken {
  /** From the text's own beginning. */
  readonly path: readonly (string | number)[]
  readonly above: number
}

/** The GraphQL specification's "Handling Execution Errors" (6.4.4). */
export function nullAbove(text: string, broken: readonly Broken[]): string {
  const whole: unknown = JSON.parse(text)
  for (const { path, above } of broken) {
    const keys = path.slice(0, path.length - 1 - above)
    const last = keys.pop()
    const holder = keys.reduce<unknown>((value, key) => propertyOf(value, key), whole)
    if (last !== undefined && isObject(holder)) holder[last] = null
  }
  return JSON.stringify(whole)
}

const isObject = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === 'object' && value !== null

/** Of what is null already, null. */
const propertyOf = (value: unknown, key: string | number): unknown => (isObject(value) ? value[key] : null)
