import { failed, ok, type Result } from '../base/result.ts'
import type { Database, StatementContext, Transaction, TransactionOptions } from '../database/database.ts'
import { DatabaseFailure, type DatabaseFault, isOutcomeUnknown } from '../database/database-fault.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import type { ContentType, ScalarAttribute } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { forgetSequences } from './sql/known-sequences.ts'

export interface TransactTerms {
  readonly database: Database
  readonly storage: Storage
  readonly purpose?: StatementContext
}

/** A write goes from one document to what hangs on it. */
const optionsOf = ({ purpose }: Pick<TransactTerms, 'purpose'>): TransactionOptions =>
  purpose ? { byKeys: true, purpose } : { byKeys: true }

/** Somebody else's write came between: the next try sees it. */
const ATTEMPTS = 6

/**
 * One transaction a write. What it throws as a RequestFault is its refusal; values that somebody took at the same
 * moment are refused as those that were taken before.
 */
export async function transact<Value>(
  type: ContentType,
  work: (transaction: Transaction) => Promise<Value>,
  terms: TransactTerms,
): Promise<Result<Value, Fault>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return ok(
        await terms.database.transaction(attempt === 1 ? work : oneAtATime(type, work), optionsOf(terms)),
      )
    } catch (error) {
      if (error instanceof RequestFault) return failed(error.fault)
      const failure = refusedBy(error)
      if (!failure) throw error
      const refusal = refusalOf(type, failure, terms)
      // Where a component has the value, the next try tells its place.
      if (refusal && (refusal.isPlaced || attempt > 1)) return failed(refusal.fault)
      if (attempt >= ATTEMPTS || !isRetryable(failure, terms)) throw error
    }
  }
}

/**
 * One try. undefined: the database refused it, and may not when it is done another way. What may have been done, or
 * took too long once already, comes out.
 */
export async function attemptOnce<Value>(
  work: (transaction: Transaction) => Promise<Value>,
  terms: TransactTerms,
): Promise<Result<Value, Fault> | undefined> {
  try {
    return ok(await terms.database.transaction(work, optionsOf(terms)))
  } catch (error) {
    if (error instanceof RequestFault) return failed(error.fault)
    const failure = refusedBy(error)
    if (failure && !isOpenEnded(failure)) {
      cacheWasStale(failure, terms)
      return undefined
    }
    throw error
  }
}

/** What the database did not do, for certain: a COMMIT whose answer was lost must never be repeated. */
const refusedBy = (error: unknown): DatabaseFailure | null =>
  error instanceof DatabaseFailure && !isOutcomeUnknown(error) ? error : null

const isRetryable = (failure: DatabaseFailure, terms: Pick<TransactTerms, 'storage'>): boolean =>
  isRace(failure) || cacheWasStale(failure, terms)

/** A sequence may have got another name: it is asked for again. */
const cacheWasStale = ({ fault }: DatabaseFailure, { storage }: Pick<TransactTerms, 'storage'>): boolean =>
  fault.kind === 'other' && fault.code === UNDEFINED_TABLE && forgetSequences(storage)

const UNDEFINED_TABLE = '42P01'

const isOpenEnded = ({ fault: { kind } }: DatabaseFailure): boolean =>
  kind === 'unavailable' || kind === 'timeout' || kind === 'busy' || kind === 'aborted'

/** Those whom others came before try again one after the other: together they would come before one another again. */
const oneAtATime =
  <Value>({ uid }: ContentType, work: (transaction: Transaction) => Promise<Value>) =>
  async (transaction: Transaction): Promise<Value> => {
    await transaction.lock(`write ${uid} again`)
    return work(transaction)
  }

const isRace = ({ fault: { kind } }: DatabaseFailure): boolean =>
  kind === 'serialization' || kind === 'unique' || kind === 'foreignKey'

/** Of the type, or of a component in it. */
function refusalOf(
  type: ContentType,
  failure: DatabaseFailure,
  { storage }: TransactTerms,
): { readonly fault: Fault; readonly isPlaced: boolean } | undefined {
  const attribute = violatedAttribute(failure.fault, storage)
  if (!attribute) return undefined
  const isPlaced = type.attributes.get(attribute.name) === attribute
  const message = 'This attribute must be unique'
  const errors = [{ path: isPlaced ? [attribute.name] : [], message, name: 'ValidationError' }]
  return { fault: fault('validation', message, { errors }), isPlaced }
}

/** The attribute whose values an index refused, because they must be unique: the index's first column holds it. */
function violatedAttribute(fault: DatabaseFault, storage: Storage): ScalarAttribute | undefined {
  if (fault.kind !== 'unique') return undefined
  const table = storage.tables.find(({ name }) => name === fault.table)
  const [first] = table?.indexes.find(({ name }) => name === fault.constraint)?.columns ?? []
  const attribute = table?.columns.find(({ name }) => name === first)?.attribute
  return attribute?.kind === 'scalar' && attribute.unique ? attribute : undefined
}
