import { noteCache } from '../base/trail.ts'
import type { Database, RunOptions } from '../database/database.ts'
import { openKeep, toBody } from './keep.ts'
import type { AskedBody, Body, Found, Reading } from './reading.ts'
import { openVersions } from './versions.ts'

export interface CacheTerms {
  readonly database: Pick<Database, 'run' | 'replicas'>
  /** The most that is kept. */
  readonly maxBytes: number
}

export interface FindTerms extends AskedBody {
  readonly run: ReadRun
}

/** How the statement runs that reads an answer. */
export type ReadRun = Pick<RunOptions, 'readonly' | 'signal' | 'purpose'>

export interface AnswerCache {
  /** What a reading comes to, as it stands after it was asked for; null where that is no body. */
  find(reading: Reading, terms: FindTerms): Promise<Body | null>
}

/**
 * Where replicas answer, each request proves and reads for itself: a statement that suits one may come from before
 * what another has seen.
 */
export function openCache({ database, maxBytes }: CacheTerms): AnswerCache {
  const keep = openKeep(maxBytes)
  const isShared = database.replicas === null
  const versionOf = openVersions(database, isShared)
  const flights = new Map<string, Promise<Body | null>>()

  const read = async (key: string, reading: Reading, terms: FindTerms): Promise<Body | null> => {
    const before = reading.totalKey === null ? undefined : keep.total(reading.totalKey)
    const { rows } = await database.run(statementOf(reading, before?.version), terms.run)
    const [text, version, counted, total] = rows[0] ?? []
    const found: Found = {
      text: typeof text === 'string' ? text : null,
      total: reading.totalKey === null ? null : Number(total ?? before?.value),
    }
    if (reading.totalKey !== null && found.total !== null)
      keep.keepTotal(reading.totalKey, String(counted), found.total)
    const printed = terms.print(found)
    if (printed === null) return null
    const body = toBody(printed)
    keep.keepBody(key, String(version), body)
    return body
  }

  const fly = (key: string, reading: Reading, terms: FindTerms): Promise<Body | null> => {
    const flight = read(key, reading, terms).finally(() => flights.delete(key))
    flights.set(key, flight)
    return flight
  }

  return {
    async find(reading, terms) {
      const key = reading.key + terms.form
      // It was sent before this began, so that what it answers is not yet good enough.
      await ended(flights.get(key))
      const kept = keep.body(key)
      const isProven = kept !== undefined && (await versionOf(reading.version)) === kept.version
      noteCache(terms.run.purpose?.trail, isProven ? 'hit' : 'miss')
      if (isProven) return kept.value
      if (!isShared) return read(key, reading, terms)
      // One that is under way now was sent after this began.
      const shared = flights.get(key)
      return shared ? shared.catch(() => read(key, reading, terms)) : fly(key, reading, terms)
    },
  }
}

/** Who asked for it is told of its failure. */
const ended = (flight: Promise<unknown> | undefined): Promise<unknown> | undefined =>
  flight?.catch(() => undefined)

const statementOf = ({ statement, totalKey }: Reading, known = ''): Reading['statement'] =>
  totalKey === null ? statement : { ...statement, values: [...statement.values, known] }
