import type { Database, StatementContext, Transaction, TransactionOptions } from '../database/database.ts'
import { DatabaseFailure, type DatabaseFault, isOutcomeUnknown } from '../database/database-fault.ts'
import { currentRequestTransaction } from '../database/request-scope.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import type { ContentType, Model, ScalarAttribute } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { Command } from '../query/command.ts'
import { describeQuery } from '../query/print-query.ts'
import type { Answer } from './documents.ts'
import { noteStatus } from './known-status.ts'
import { NO_OUTBOX, type Outbox, openChangeRecorder, type RecordChange } from './outbox.ts'
import { writeOptions } from './rows/write-options.ts'
import type { SaveOptions } from './save-document.ts'
import { forgetSequences } from './sql/known-sequences.ts'

/** Dependencies of writes. */
export interface WriterOptions {
  readonly database: Database
  readonly storage: Storage
  readonly model: Model
  /** Receives change events; absent: events are not recorded. */
  readonly outbox?: Outbox
}

/** The work of one write inside its transaction. */
export type TransactionWork<Value> = (options: SaveOptions) => Promise<Value>

/** Runs each write in one transaction, records its change events, and wakes the listeners after the commit. */
export interface Writer {
  /** Retries after a race condition. */
  write<Value>(type: ContentType, work: TransactionWork<Value>, purpose: StatementContext): Promise<Value>
  /** undefined: the caller has to fall back to `write`. */
  writeOnce<Value>(
    work: TransactionWork<Value | undefined>,
    purpose: StatementContext,
  ): Promise<Value | undefined>
}

export function openWriter(options: WriterOptions): Writer {
  const { database, storage, model, outbox = NO_OUTBOX } = options
  const begin = <Value>(work: TransactionWork<Value>) => {
    const recorder = openChangeRecorder(outbox)
    const run = (transaction: Transaction) => {
      const writing = writeOptions(transaction, { database, storage, model }, { touch: true })
      const record = recorder.within(transaction, writing.now)
      const recordChange: RecordChange = event => {
        noteStatus(event, storage)
        record(event)
      }
      return work({ ...writing, transaction, recordChange })
    }
    return { run, recorder }
  }
  return {
    async write(type, work, purpose) {
      const { run, recorder } = begin(work)
      const value = await transact(type, run, { database, storage, purpose })
      recorder.done()
      return value
    },
    async writeOnce(work, purpose) {
      const { run, recorder } = begin(work)
      const value = await attemptOnce(run, { database, storage, purpose })
      if (value !== undefined) recorder.done()
      return value
    },
  }
}

/** Describes a write for observers. It names the attributes and never contains values. */
export const describeWrite = (command: Command, answer: Answer | undefined): StatementContext => ({
  requestContext: answer?.requestContext,
  describe: () => ({
    action: command.kind,
    contentType: command.type.key,
    ...('values' in command && { values: Object.keys(command.values) }),
    ...(answer && { answer: describeQuery(answer.query) }),
  }),
})

export interface TransactOptions {
  readonly database: Database
  readonly storage: Storage
  readonly purpose?: StatementContext
}

/** A write starts from the key of one document. */
const optionsOf = ({ purpose }: Pick<TransactOptions, 'purpose'>): TransactionOptions =>
  purpose ? { byKeys: true, purpose } : { byKeys: true }

/** Each retry sees the concurrent write that the attempt before lost against. */
const ATTEMPTS = 6

/**
 * Runs a write in one transaction and retries it after a race condition. Rejects with a RequestFault if the write is
 * refused, also for a unique value that a concurrent write took.
 */
export async function transact<Value>(
  type: ContentType,
  work: (transaction: Transaction) => Promise<Value>,
  options: TransactOptions,
): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await options.database.transaction(
        attempt === 1 ? work : oneAtATime(type, work),
        optionsOf(options),
      )
    } catch (error) {
      const failure = refusedBy(error)
      if (!failure) throw error
      const refusal = refusalOf(type, failure, options)
      // The next attempt finds the path of a value in a component, and another uid where it generates one.
      if (refusal && (refusal.isFinal || attempt > 1)) throw new RequestFault(refusal.fault)
      if (attempt >= ATTEMPTS || !isRetryable(failure, options)) throw error
      if (currentRequestTransaction()?.isDeadlocked) throw error
    }
  }
}

/**
 * Runs a write once. undefined: the database refused it, and may accept it from the full path. Rejects if the outcome is
 * unknown, or if the attempt took too long to repeat it.
 */
export async function attemptOnce<Value>(
  work: (transaction: Transaction) => Promise<Value>,
  options: TransactOptions,
): Promise<Value | undefined> {
  try {
    return await options.database.transaction(work, optionsOf(options))
  } catch (error) {
    const failure = refusedBy(error)
    if (!failure || isOpenEnded(failure) || currentRequestTransaction()?.isDeadlocked) throw error
    cacheWasStale(failure, options)
    return undefined
  }
}

/** A failure that certainly changed nothing. A COMMIT whose answer was lost must never be repeated. */
const refusedBy = (error: unknown): DatabaseFailure | null =>
  error instanceof DatabaseFailure && !isOutcomeUnknown(error) ? error : null

const isRetryable = (failure: DatabaseFailure, options: Pick<TransactOptions, 'storage'>): boolean =>
  isRace(failure) || cacheWasStale(failure, options)

/** True if a sequence may have been renamed: the cached names are dropped. */
const cacheWasStale = ({ fault }: DatabaseFailure, { storage }: Pick<TransactOptions, 'storage'>): boolean =>
  fault.kind === 'other' && fault.code === UNDEFINED_TABLE && forgetSequences(storage)

const UNDEFINED_TABLE = '42P01'

const isOpenEnded = ({ fault: { kind } }: DatabaseFailure): boolean =>
  kind === 'unavailable' || kind === 'timeout' || kind === 'busy' || kind === 'aborted'

/** Retries run one at a time. Concurrent retries would conflict with each other again. */
const oneAtATime =
  <Value>({ uid }: ContentType, work: (transaction: Transaction) => Promise<Value>) =>
  async (transaction: Transaction): Promise<Value> => {
    await transaction.lock(`write ${uid} again`)
    return work(transaction)
  }

const isRace = ({ fault: { kind } }: DatabaseFailure): boolean =>
  kind === 'serialization' || kind === 'unique' || kind === 'foreignKey'

/** `isFinal`: the attribute is the type's own, not one of a component in it, and clients alone give its values. */
function refusalOf(
  type: ContentType,
  failure: DatabaseFailure,
  { storage }: TransactOptions,
): { readonly fault: Fault; readonly isFinal: boolean } | undefined {
  if (isOversize(failure.fault))
    return { fault: fault('validation', OVERSIZE, { errors: [] }), isFinal: true }
  const attribute = violatedAttribute(failure.fault, storage)
  if (!attribute) return undefined
  const isPlaced = type.attributes.get(attribute.name) === attribute
  const message = 'This attribute must be unique'
  const errors = [{ path: isPlaced ? [attribute.name] : [], message, name: 'ValidationError' }]
  return { fault: fault('validation', message, { errors }), isFinal: isPlaced && !attribute.generate }
}

/** Long texts are stored outside of their row, but some bytes of each remain in it: several hundred of them are too many. */
const isOversize = (failed: DatabaseFault): boolean =>
  failed.kind === 'other' && failed.code === PROGRAM_LIMIT_EXCEEDED

const PROGRAM_LIMIT_EXCEEDED = '54000'

const OVERSIZE =
  'The values of a document, or of one component in it, exceed the 8160 bytes of a row of PostgreSQL: fill fewer attributes, or move some into a component'

/** The attribute whose values an index refused, because they must be unique: the index's first column holds it. */
function violatedAttribute(fault: DatabaseFault, storage: Storage): ScalarAttribute | undefined {
  if (fault.kind !== 'unique') return undefined
  const table = storage.tables.find(({ name }) => name === fault.table)
  const [first] = table?.indexes.find(({ name }) => name === fault.constraint)?.columns ?? []
  const attribute = table?.columns.find(({ name }) => name === first)?.attribute
  return attribute?.kind === 'scalar' && attribute.unique ? attribute : undefined
}
