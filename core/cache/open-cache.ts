import { recordCacheOutcome } from '../base/request-context.ts'
import type { Database, RunOptions } from '../database/database.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import { currentRequestTransaction } from '../database/request-scope.ts'
import { SEPARATOR } from '../sql/print.ts'
import { type Benefit, openBenefits, openDoorkeeper, openWriteRates, type WriteRate } from './admission.ts'
import {
  type AnswerBody,
  type AnswerStore,
  type BodyFormat,
  type BodyOrText,
  type CacheableRead,
  type CachedAnswer,
  openAnswerStore,
  type ReadResult,
  type RowIds,
  toBody,
} from './answer-store.ts'
import { isUnaffected } from './changes.ts'
import type { VersionHistory } from './version-history.ts'
import { openVersions, type TableVersions, type VersionPrefetch } from './versions.ts'

export interface CacheOptions {
  readonly database: Pick<Database, 'run' | 'replicas'>
  /** Limit of the memory that cached answers take. */
  readonly maxBytes: number
}

export interface CacheFindOptions extends BodyFormat {
  readonly run: ReadRunOptions
  /** The request's; absent: it reads nothing else, or may write. */
  readonly prefetch?: VersionPrefetch | undefined
}

/** How the statement runs that reads an answer. */
export type ReadRunOptions = Pick<RunOptions, 'readonly' | 'onPrimary' | 'signal' | 'purpose' | 'maxBytes'>

export interface AnswerCache {
  /**
   * The answer as of a snapshot taken after the call; null if it has no body. An answer that is not cached is returned
   * as text. Rejects when the read fails.
   */
  find(read: CacheableRead, options: CacheFindOptions): Promise<BodyOrText | null>
}

/**
 * With replicas every request checks and reads for itself: the snapshot of another request's statement may be older
 * than what this client has already seen.
 */
export function openCache({ database, maxBytes }: CacheOptions): AnswerCache {
  const store = openAnswerStore(maxBytes)
  const isShared = database.replicas === null
  const versions = openVersions(database, isShared)
  const { mayBeCurrent, proves } = openProofs(versions)
  const rates = openWriteRates()
  const writeRateOf = ({ uses, statement, tableNames }: CacheableRead) =>
    isShared ? rates(uses ? statement.text : tableNames, uses !== null) : null
  const benefitOf = isShared ? openBenefits() : () => null
  const { readOnce, readUncached } = openReads(database, store)
  const inFlight = new Map<string, Promise<BodyOrText | null>>()

  const readSingleFlight: Read = lookup => {
    const flight = readOnce(lookup).finally(() => inFlight.delete(lookup.key))
    inFlight.set(lookup.key, flight)
    return flight
  }

  const findCached: Read = async lookup => {
    const { key, read, options, writeRate, benefit } = lookup
    // That statement started before this request: its snapshot may be stale.
    await settled(inFlight.get(key))
    const cached = store.body(key)
    const since = cached?.version ?? ''
    const began = performance.now()
    const checked =
      cached && writeRate?.maybeCurrent(since) !== false && mayBeCurrent(cached, read)
        ? await versions.fetch(read.tableNames, options.prefetch)
        : null
    const isHit = cached !== undefined && checked !== null && (await proves({ cached, since, read }, checked))
    if (checked !== null) writeRate?.recordCheck(checked, isHit)
    if (isHit) benefit?.recordHit(performance.now() - began)
    recordCacheOutcome(options.run.purpose?.requestContext, isHit ? 'hit' : 'miss')
    if (isHit) return cached.value
    if (!isShared) return readOnce(lookup)
    // A read that is in flight now started after this request.
    const shared = inFlight.get(key)
    return shared ? shared.catch(retryUnlessFinal(lookup, readOnce)) : readSingleFlight(lookup)
  }

  return {
    async find(read, options) {
      const key = read.key + options.formatKey
      // Uncommitted changes are visible to their own request only.
      if (currentRequestTransaction())
        return readUncached({ key, read, options, writeRate: null, benefit: null })
      const benefit = benefitOf(read.statement.text)
      const lookup = { key, read, options, writeRate: writeRateOf(read), benefit }
      const isSuspended = benefit?.isSuspended === true
      const began = performance.now()
      if (isSuspended) recordCacheOutcome(options.run.purpose?.requestContext, 'miss')
      // While caching does not pay, a request does not wait for another's read either.
      const answer = await (isSuspended ? readOnce : findCached)(lookup)
      benefit?.recordAnswer(performance.now() - began, isSuspended)
      return answer
    },
  }
}

interface Check {
  readonly cached: CachedAnswer<AnswerBody>
  /** The version of the cached answer when the check began. */
  readonly since: string
  readonly read: CacheableRead
}

interface Proofs {
  /** False if known changes have touched the answer, so that checking its version is needless. */
  mayBeCurrent(cached: CachedAnswer<AnswerBody>, read: CacheableRead): boolean
  /** True if the answer is current at a version, which was just read, or at a later one. Reads the changes since the last check. */
  proves(check: Check, version: string): Promise<boolean>
}

const openProofs = (versions: TableVersions): Proofs => ({
  mayBeCurrent(cached, read) {
    const since = cached.version
    const history = read.uses && versions.historyOf(read.tableNames)
    return !history?.has(since) || isUntouched({ cached, since, read }, history, history.head.version)
  },
  async proves(check, version) {
    if (check.since === version) return true
    const { uses, tableNames } = check.read
    const history = uses && versions.historyOf(tableNames)
    if (!history) return false
    const until = history.has(version) ? version : await versions.fetchChanges(tableNames)
    return isUntouched(check, history, until)
  },
})

/** True if no change until that version has touched the answer, which then counts as read at that version. */
function isUntouched({ cached, since, read }: Check, history: VersionHistory, until: string): boolean {
  const changes = history.changes(since, until)
  if (!changes?.every(each => isUnaffected(read, cached.rows, each))) return false
  // Another request may have checked a later version meanwhile.
  if (cached.version === since) cached.version = until
  return true
}

/** A shared read may fail only because the client that began it disconnected. A read over its limits fails for all. */
const retryUnlessFinal =
  (lookup: Lookup, readOnce: Read) =>
  (error: unknown): Promise<BodyOrText | null> => {
    if (exceedsLimit(error, lookup.options.run)) throw error
    return readOnce(lookup)
  }

interface Reads {
  /** Reads the answer and caches it if that is worth it. */
  readonly readOnce: Read
  readonly readUncached: Read
}

/** Reads of answers that are not cached. */
function openReads(database: CacheOptions['database'], store: AnswerStore): Reads {
  const wasSeen = openDoorkeeper()

  const readUncached: Read = async ({ read, options }) => {
    const { statement, uncachedText } = read
    const rows = await database.run({ ...statement, text: uncachedText }, options.run)
    return options.print(toReadResult(rows.rows[0], 1))
  }

  const readAndCache: Read = async ({ key, read, options, writeRate, benefit }) => {
    const { totalKey } = read
    const before = totalKey === null ? undefined : store.total(totalKey)
    const isOutdated = store.body(key) !== undefined
    const began = performance.now()
    const rows = await database.run(withKnownTotal(read, before?.version), options.run)
    if (isOutdated) benefit?.recordOutdated(performance.now() - began)
    const [text, version, totalVersion, counted] = rows.rows[0] ?? []
    const [ids, json] = read.uses?.root ? splitIds(text) : [null, text]
    const result = toReadResult([json, counted], 1)
    writeRate?.recordRead(String(version))
    if (writeRate && totalKey !== null)
      writeRate.isTotalStable = before !== undefined && result.total === null
    const found = totalKey === null ? result : { ...result, total: result.total ?? before?.value ?? null }
    if (totalKey !== null && found.total !== null) store.setTotal(totalKey, String(totalVersion), found.total)
    const printed = options.print(found)
    if (printed === null) return null
    const body = toBody(printed)
    store.setBody(key, String(version), body, ids)
    return body
  }

  /** A read that was not seen before is rarely repeated soon, and an answer from volatile tables is outdated at once. */
  const isWorthCaching = ({ key, read: { totalKey }, writeRate, benefit }: Lookup): boolean => {
    if (benefit?.countSuspended()) return totalKey !== null && writeRate?.isTotalStable === true
    const isNew = store.body(key) === undefined && !wasSeen(key)
    if (writeRate?.isVolatile)
      return writeRate.shouldProbe() || (totalKey !== null && writeRate.isTotalStable)
    return !isNew || (totalKey !== null && (store.total(totalKey) !== undefined || wasSeen(totalKey)))
  }

  const readOnce: Read = lookup => (isWorthCaching(lookup) ? readAndCache : readUncached)(lookup)

  return { readOnce, readUncached }
}

interface Lookup {
  readonly key: string
  readonly read: CacheableRead
  readonly options: CacheFindOptions
  /** null: not tracked, because replicas answer or the read is part of a transaction. */
  readonly writeRate: WriteRate | null
  /** null: as `writeRate`. */
  readonly benefit: Benefit | null
}

type Read = (lookup: Lookup) => Promise<BodyOrText | null>

/** The request that began the read handles its failure. */
const settled = (flight: Promise<unknown> | undefined): Promise<unknown> | undefined =>
  flight?.catch(() => undefined)

function exceedsLimit(error: unknown, { maxBytes = Number.POSITIVE_INFINITY }: ReadRunOptions): boolean {
  const fault = toDatabaseFault(error)
  if (fault?.kind === 'too-large') return fault.bytes === null || fault.bytes >= maxBytes
  return fault?.kind === 'timeout'
}

const withKnownTotal = (
  { statement, totalKey }: CacheableRead,
  knownVersion = '',
): CacheableRead['statement'] =>
  totalKey === null ? statement : { ...statement, values: [...statement.values, knownVersion] }

/** `totalAt`: the column of the total. */
function toReadResult(row: readonly unknown[] | undefined, totalAt: number): ReadResult {
  const text = row?.[0]
  const total = row?.[totalAt]
  return {
    text: typeof text === 'string' ? text : null,
    total: total === undefined || total === null ? null : Number(total),
  }
}

/** Splits the text of a statement whose rows are known (sql/print.ts). No text: no row was found. */
function splitIds(text: unknown): readonly [ids: RowIds, json: string | null] {
  if (typeof text !== 'string') return [[], null]
  const end = text.indexOf(SEPARATOR)
  return [end === 0 ? [] : text.slice(0, end).split(',').map(Number), text.slice(end + SEPARATOR.length)]
}
