import type { RequestContext } from '../../base/request-context.ts'
import type { BodyOrText } from '../../cache/answer-store.ts'
import { toDatabaseFault } from '../../database/database-fault.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import { largestPart } from './largest-part.ts'

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
