import { INTEGER } from '../base/integers.ts'
import { parseJsonText } from '../base/text.ts'
import { isRecord } from '../query/parse-place.ts'

/** A group of equal slow reads in the log. `work` contains no values (query/describe-query.ts). */
export interface SlowRead {
  readonly work: Readonly<Record<string, unknown>>
  readonly times: number
  /** Milliseconds. */
  readonly slowest: number
  readonly together: number
}

/** The maximum number of examined groups, those with the most total time first. */
const MOST = 20

/** The slow reads of a log, the most expensive first. Ignores all other lines. */
export async function findSlowReads(log: AsyncIterable<string>): Promise<readonly SlowRead[]> {
  const reads = new Map<string, SlowRead>()
  for await (const line of linesOf(log)) {
    const read = toRead(line)
    if (!read) continue
    const key = shapeOf(read.work)
    const known = reads.get(key)
    reads.set(key, known ? joined(known, read) : read)
  }
  return [...reads.values()].toSorted((one, other) => other.together - one.together).slice(0, MOST)
}

/** Collects the slow reads of a running server. */
export interface SlowReads {
  record(milliseconds: number, work: object): void
  /** The most expensive first. */
  list(): readonly SlowRead[]
}

/** Groups beyond this number replace the cheapest one, so that requests cannot fill the memory. */
const MOST_KEPT = 200

export function openSlowReads(): SlowReads {
  const reads = new Map<string, SlowRead>()
  const sorted = () => [...reads].toSorted(([, one], [, other]) => other.together - one.together)
  return {
    record(milliseconds, work) {
      const read = toSlowRead({ ...work }, milliseconds)
      if (!read) return
      const key = shapeOf(read.work)
      const known = reads.get(key)
      reads.set(key, known ? joined(known, read) : read)
      const [cheapest] = reads.size > MOST_KEPT ? (sorted().at(-1) ?? []) : []
      if (cheapest !== undefined) reads.delete(cheapest)
    },
    list: () =>
      sorted()
        .slice(0, MOST)
        .map(([, read]) => read),
  }
}

/** Longer lines are not log lines of the server. */
const LONGEST = 1_000_000

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of chunks) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LONGEST) rest = ''
    yield* lines
  }
  yield rest
}

const joined = (one: SlowRead, other: SlowRead): SlowRead => ({
  work: depthOf(one.work) >= depthOf(other.work) ? one.work : other.work,
  times: one.times + other.times,
  slowest: Math.max(one.slowest, other.slowest),
  together: one.together + other.together,
})

/** The offset of a page. */
export const depthOf = ({ start }: SlowRead['work']): number =>
  typeof start === 'number' && Number.isInteger(start) && start > 0 && start <= INTEGER.most ? start : 0

/** All pages of a list belong to one group. */
const shapeOf = ({ start: _start, ...work }: SlowRead['work']): string => JSON.stringify(work)

/** Skips a prefix that a log collector added, such as a timestamp. */
function toRead(line: string): SlowRead | null {
  const at = line.indexOf('{')
  if (at < 0 || !line.includes('"slowWork"')) return null
  const entry = parseJsonText(line.slice(at))
  if (!isRecord(entry) || entry.event !== 'slowWork' || !isRecord(entry.work)) return null
  const { milliseconds, work } = entry
  return typeof milliseconds === 'number' ? toSlowRead(work, milliseconds) : null
}

/** null: neither a list nor a document with related ones. */
const toSlowRead = (work: SlowRead['work'], milliseconds: number): SlowRead | null =>
  work.action === 'find' || (work.action === 'findOne' && work.populate !== undefined)
    ? { work, times: 1, slowest: milliseconds, together: milliseconds }
    : null
