import type { RequestContext } from '../../base/request-context.ts'
import type { BodyOrText } from '../../cache/answer-store.ts'
import { toDatabaseFault } from '../../database/database-fault.ts'
import { fault, RequestFault } from '../../faults/fault.ts'

/** Bounds the documents that one request is answered with, however many reads it makes. */
export interface AnswerBounds {
  /** How many bytes the next read of the request may have. */
  left(trail: RequestContext | undefined): number
  /** Counts what was read for the request, and returns it. Cached responses count, too. */
  count<Found extends BodyOrText>(found: Found, trail: RequestContext | undefined): Found
  /** An answer that is too large is the request's fault; all else stays what it is. */
  refuse(error: unknown): never
}

/** 0: there is no limit. */
export function openBounds(maxBytes: number): AnswerBounds {
  const most = maxBytes === 0 ? Number.POSITIVE_INFINITY : maxBytes
  const tooLarge = (path: readonly string[]) => {
    const message = `Too much was asked for: the answer has more than the ${most} bytes that database.limits.bytes in project.yaml allows; ${adviceOn(path)}`
    return new RequestFault(fault('validation', message, { path, maxBytes: most }))
  }
  return {
    left: trail => Math.max(0, most - (trail?.origin?.bytesRead ?? 0)),
    count(found, trail) {
      if (!trail?.origin) return found
      trail.origin.bytesRead += typeof found === 'string' ? found.length : found.bytes.length
      if (trail.origin.bytesRead > most) throw tooLarge([])
      return found
    },
    refuse(error) {
      const found = toDatabaseFault(error)
      if (found?.kind !== 'too-large') throw error
      const { seen } = found
      const path = 'path' in seen ? seen.path : largestPart(seen.sample)
      throw tooLarge(path.filter(key => !WRAPPERS.has(key)))
    },
  }
}

/** Keys that wrap documents in the formats that nest them. */
const WRAPPERS: ReadonlySet<string> = new Set(['data', 'attributes', 'nodes'])

const adviceOn = (path: readonly string[]): string =>
  path.length === 0
    ? 'ask for smaller pages (pagination[pageSize]), or for fewer fields'
    : `most of it is \`${path.join('.')}\`: populate that with fewer fields or with a filter, or read these documents from their own list, filtered by what they belong to and in pages (pagination[page], pagination[pageSize])`

/** A part of JSON text: an object's key, whichever objects of a list it is in. */
interface Part {
  bytes: number
  readonly parts: Map<string, Part>
}

/** An object or a list that has not ended. */
interface Open {
  readonly part: Part
  readonly isObject: boolean
  readonly begin: number
}

/**
 * The keys that lead to what takes most of a JSON text, as far as one key takes more than half of what is around it.
 * The text may be cut off, and may have other bytes before it.
 */
function largestPart(text: string): readonly string[] {
  const path: string[] = []
  for (let part = measure(text), next = largestIn(part); next; next = largestIn(part)) {
    path.push(next.key)
    part = next.part
  }
  return path
}

function largestIn({ bytes, parts }: Part): { readonly key: string; readonly part: Part } | undefined {
  for (const [key, part] of parts) if (part.bytes > bytes / 2) return { key, part }
  return undefined
}

const newPart = (): Part => ({ bytes: 0, parts: new Map() })

/** Reads the text once. It does not distinguish values that are neither objects nor lists. */
function measure(text: string): Part {
  const root = newPart()
  const open: Open[] = []
  let key = ''
  const close = (at: number) => {
    const ended = open.pop()
    if (ended && ended.part !== open.at(-1)?.part) ended.part.bytes += at - ended.begin
  }
  for (let at = Math.max(0, text.indexOf('{"')); at < text.length; at++) {
    const sign = text[at]
    if (sign === '"') {
      const end = endOfString(text, at)
      if (text[end] === ':') key = text.slice(at + 1, end - 1)
      at = end - 1
    } else if (sign === '{' || sign === '[') {
      const around = open.at(-1)
      open.push({
        part: around?.isObject ? partOf(around.part, key) : (around?.part ?? root),
        isObject: sign === '{',
        begin: at,
      })
    } else if (sign === '}' || sign === ']') close(at)
  }
  while (open.length > 0) close(text.length)
  return root
}

function partOf({ parts }: Part, key: string): Part {
  const part = parts.get(key) ?? newPart()
  parts.set(key, part)
  return part
}

/** The place behind the closing quotation mark. */
function endOfString(text: string, begin: number): number {
  let at = begin + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}
