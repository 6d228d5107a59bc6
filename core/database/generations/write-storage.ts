import { AsyncLocalStorage } from 'node:async_hooks'
import type { WriteScope } from '../../base/request-context.ts'
import { isSafeMethod, type Responder } from '../../faults/http-exchange.ts'
import type { Transaction } from '../database.ts'

/** What code of a request belongs to. */
interface RequestWork {
  readonly writes: WriteScope
  readonly whole?: WholeTransaction
}

/** One transaction for all that a request reads and writes; those of its code are savepoints in it. */
export interface WholeTransaction {
  readonly transaction: Transaction
  /** Runs once it is committed. */
  readonly afterwards: (() => unknown)[]
  /** Something was written in it. */
  isTouched: boolean
  isOver: boolean
}

const storage = new AsyncLocalStorage<RequestWork>()
let running = 0

/** The writes of the request that code runs for; undefined: of none, or they are handed over with the work. */
export const currentWrites = (): WriteScope | undefined =>
  running === 0 ? undefined : storage.getStore()?.writes

/** undefined: each transaction of the request is one of its own. */
export function currentWhole(): WholeTransaction | undefined {
  const whole = running === 0 ? undefined : storage.getStore()?.whole
  return whole?.isOver ? undefined : whole
}

/** Does what must wait until the data is committed: at once, where it is. */
export async function afterCommit(work: () => unknown): Promise<void> {
  const whole = currentWhole()
  if (whole) whole.afterwards.push(work)
  else await work()
}

/**
 * Runs code of a request whose transactions are not handed its writes: of plugins, users, files. Following what code
 * calls costs the whole process some time before Node 24, so that it ends with the last one who needs it.
 */
export function withWrites<Value>(writes: WriteScope | undefined, work: () => Value): Value {
  if (!writes || currentWrites() === writes) return work()
  return withWork({ writes }, work)
}

/** The same, with one transaction for all of it. */
export const withWhole = <Value>(writes: WriteScope, whole: WholeTransaction, work: () => Value): Value =>
  withWork({ writes, whole }, work)

function withWork<Value>(request: RequestWork, work: () => Value): Value {
  running++
  try {
    const value = storage.run(request, work)
    if (value instanceof Promise) return value.finally(endOne) as Value
    endOne()
    return value
  } catch (error) {
    endOne()
    throw error
  }
}

function endOne(): void {
  running--
  if (running === 0) storage.disable()
}

/** The same responder; every transaction of a request that may write belongs to the request. */
export const trackWrites =
  (responder: Responder): Responder =>
  request =>
    isSafeMethod(request.method) ? responder(request) : withWrites(request.writes, () => responder(request))
