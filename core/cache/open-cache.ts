import { recordCacheOutcome } from '../base/request-context.ts'
import type { Database, Rows, RunOptions } from '../database/database.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import { currentWhole } from '../database/generations/write-storage.ts'
import { ABANDONED } from '../database/scheduling/scheduler.ts'
import { openKeep, toBody } from './answer-store.ts'
import type { AskedBody, Found, FoundBody, Reading } from './cacheable-read.ts'
import { openSeen } from './doorkeeper.ts'
import type { Ahead } from './version-prefetch.ts'
import { openVersions } from './versions.ts'
import { openPulses, type Pulse } from './write-rate.ts'

export interface CacheTerms {
  readonly database: Pick<Database, 'run' | 'replicas'>
  /** The most that is kept. */
  readonly maxBytes: number
}

export interface FindTerms extends AskedBody {
  readonly run: ReadRun
  /** Of the request; absent: it asks for nothing else, or may write. */
  readonly ahead?: Ahead | undefined
}

/** How the statement runs that reads an answer. */
export type ReadRun = Pick<RunOptions, 'readonly' | 'onPrimary' | 'signal' | 'purpose' | 'maxBytes'>

export interface AnswerCache {
  /** What a reading comes to, as it stands after it was asked for; null where that is no body. Text is not kept. */
  find(reading: Reading, terms: FindTerms): Promise<FoundBody | null>
}

/**
 * Where replicas answer, each request proves and reads for itself: a statement that suits one may come from before
 * what another has seen.
 */
export function openCache({ database, maxBytes }: CacheTerms): AnswerCache {
  const keep = openKeep(maxBytes)
  const isShared = database.replicas === null
  const versionOf = openVersions(database, isShared)
  const pulseOf = isShared ? openPulses() : () => null
  const seen = openSeen()
  const flights = new Map<string, Promise<FoundBody | null>>()

  const readPlainly: Read = async ({ reading, terms }) => {
    const { statement, plain } = reading
    return terms.print(foundIn(await database.run({ ...statement, text: plain }, terms.run), 1))
  }

  const readToKeep: Read = async ({ key, reading, terms, pulse }) => {
    const { totalKey } = reading
    const before = totalKey === null ? undefined : keep.total(totalKey)
    const rows = await database.run(statementOf(reading, before?.version), terms.run)
    const read = foundIn(rows, 3)
    const [, version, counted] = rows.rows[0] ?? []
    pulse?.sawRead(String(version))
    if (pulse && totalKey !== null) pulse.isTotalCalm = before !== undefined && read.total === null
    const found = totalKey === null ? read : { ...read, total: read.total ?? before?.value ?? null }
    if (totalKey !== null && found.total !== null) keep.keepTotal(totalKey, String(counted), found.total)
    const printed = terms.print(found)
    if (printed === null) return null
    const body = toBody(printed)
    keep.keepBody(key, String(version), body)
    return body
  }

  /** What is asked for once is hardly asked for again soon, and what is written all the time is never the same. */
  const isWorthKeeping = ({ key, reading: { totalKey }, pulse }: Asked): boolean => {
    const isNew = keep.body(key) === undefined && !seen(key)
    if (pulse?.isRestless) return pulse.takesProbe() || (totalKey !== null && pulse.isTotalCalm)
    return !isNew || (totalKey !== null && (keep.total(totalKey) !== undefined || seen(totalKey)))
  }

  const read: Read = asked => (isWorthKeeping(asked) ? readToKeep : readPlainly)(asked)

  const fly: Read = asked => {
    const flight = read(asked).finally(() => flights.delete(asked.key))
    flights.set(asked.key, flight)
    return flight
  }

  /** A shared read may fail because the client that began it has gone. A read that is too dear fails for everybody. */
  const readUnlessFinal = (error: unknown, asked: Asked): Promise<FoundBody | null> => {
    if (isTooDear(error, asked.terms.run)) throw error
    return read(asked)
  }

  return {
    async find(reading, terms) {
      const key = reading.key + terms.form
      // What is not committed is for its request alone.
      if (currentWhole()) return readPlainly({ key, reading, terms, pulse: null })
      // It was sent before this began, so that what it answers is not yet good enough.
      await ended(flights.get(key))
      const kept = keep.body(key)
      const pulse = pulseOf(reading.version)
      const isAskedAfter = kept !== undefined && pulse?.mayStand(kept.version) !== false
      const version = isAskedAfter ? await versionOf(reading.version, terms.ahead) : null
      const isProven = version !== null && version === kept?.version
      if (version !== null) pulse?.sawProof(version, isProven)
      recordCacheOutcome(terms.run.purpose?.trail, isProven ? 'hit' : 'miss')
      if (isProven) return kept.value
      const asked = { key, reading, terms, pulse }
      if (!isShared) return read(asked)
      // One that is under way now was sent after this began.
      const shared = flights.get(key)
      return shared ? shared.catch(error => readUnlessFinal(error, asked)) : fly(asked)
    },
  }
}

interface Asked {
  readonly key: string
  readonly reading: Reading
  readonly terms: FindTerms
  /** null: of several servers. */
  readonly pulse: Pulse | null
}

type Read = (asked: Asked) => Promise<FoundBody | null>

/** Who asked for it is told of its failure. */
const ended = (flight: Promise<unknown> | undefined): Promise<unknown> | undefined =>
  flight?.catch(() => undefined)

function isTooDear(error: unknown, { maxBytes = Number.POSITIVE_INFINITY }: ReadRun): boolean {
  const fault = toDatabaseFault(error)
  if (fault?.kind === 'too-large') return fault.bytes === null || fault.bytes >= maxBytes
  return fault?.kind === 'timeout' && fault.code !== ABANDONED
}

const statementOf = ({ statement, totalKey }: Reading, known = ''): Reading['statement'] =>
  totalKey === null ? statement : { ...statement, values: [...statement.values, known] }

/** `totalAt`: the column of the total. */
function foundIn({ rows }: Rows, totalAt: number): Found {
  const text = rows[0]?.[0]
  const total = rows[0]?.[totalAt]
  return {
    text: typeof text === 'string' ? text : null,
    total: total === undefined || total === null ? null : Number(total),
  }
}
