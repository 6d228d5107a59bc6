import { AsyncLocalStorage } from 'node:async_hooks'
import type { WriteScope } from '../base/request-context.ts'
import { isSafeMethod, type Responder } from '../faults/http-exchange.ts'
import type { Transaction } from './database.ts'

/** The request that code runs for. */
interface RequestScope {
  readonly writes: WriteScope | undefined
  readonly shared?: RequestTransaction | undefined
  /** Receives the next transaction that a driver begins for this code. */
  opening?: TransactionReceiver | undefined
}

type TransactionReceiver = (transaction: Transaction) => void

/** One transaction for all reads and writes of a request. Transactions of plugin code are savepoints in it. */
export interface RequestTransaction {
  readonly transaction: Transaction
  /** Run after the commit. */
  readonly afterCommit: (() => unknown)[]
  /** True after a write. */
  isTouched: boolean
  /** True after a deadlock: only its end releases the locks that the others wait for. Its savepoints need no second attempt. */
  isDeadlocked?: boolean
  /** Reads keep their limit of bytes: a client chose the transaction, not code of the project. */
  readonly boundsReads?: boolean
  isOver: boolean
}

const storage = new AsyncLocalStorage<RequestScope>()
let running = 0

/** The writes of the request that the code runs for; undefined: no request, or they are passed with the work. */
export const currentWrites = (): WriteScope | undefined =>
  running === 0 ? undefined : storage.getStore()?.writes

/** The transaction that all writes of the request share; undefined: each write has its own. */
export function currentRequestTransaction(): RequestTransaction | undefined {
  const shared = running === 0 ? undefined : storage.getStore()?.shared
  return shared?.isOver ? undefined : shared
}

/** Runs `work` after the commit of the request's transaction, or at once without one. */
export async function afterCommit(work: () => unknown): Promise<void> {
  const shared = currentRequestTransaction()
  if (shared) shared.afterCommit.push(work)
  else await work()
}

/**
 * Runs code of a request whose transactions are not passed the request's writes: plugins, users, files. Before Node 24 an
 * active AsyncLocalStorage slows the whole process, so it is disabled when the last user ends.
 */
export function withWrites<Value>(writes: WriteScope | undefined, work: () => Value): Value {
  if (!writes || currentWrites() === writes) return work()
  return withScope({ writes }, work)
}

/** The same, with one transaction for all of the work. */
export const inRequestTransaction = <Value>(
  writes: WriteScope | undefined,
  shared: RequestTransaction,
  work: () => Value,
): Value => withScope({ writes, shared }, work)

/** Runs `work` so that its transactions are savepoints in this one. The caller runs `afterCommit` after the commit. */
export async function withinTransaction<Value>(
  { transaction, afterCommit }: Pick<RequestTransaction, 'transaction' | 'afterCommit'>,
  work: () => Promise<Value>,
): Promise<Value> {
  const shared = { transaction, afterCommit, isTouched: false, isOver: false }
  try {
    return await inRequestTransaction(currentWrites(), shared, work)
  } finally {
    shared.isOver = true
  }
}

/** Runs `work`, which begins a transaction through a driver: `opening` receives that transaction. */
export const whileOpening = <Value>(opening: TransactionReceiver, work: () => Value): Value =>
  withScope({ writes: currentWrites(), shared: currentRequestTransaction(), opening }, work)

/** Takes the receiver of the transaction that begins now; undefined: there is none. */
export function claimOpening(): TransactionReceiver | undefined {
  const scope = running === 0 ? undefined : storage.getStore()
  const opening = scope?.opening
  if (scope) scope.opening = undefined
  return opening
}

function withScope<Value>(request: RequestScope, work: () => Value): Value {
  running++
  try {
    const value = storage.run(request, work)
    if (value instanceof Promise) return value.finally(leaveScope) as Value
    leaveScope()
    return value
  } catch (error) {
    leaveScope()
    throw error
  }
}

function leaveScope(): void {
  running--
  if (running === 0) storage.disable()
}

/** Makes every transaction of a request that may write belong to the request. */
export const trackWrites =
  (responder: Responder): Responder =>
  request =>
    isSafeMethod(request.method) ? responder(request) : withWrites(request.writes, () => responder(request))
