import { AsyncLocalStorage } from 'node:async_hooks'
import type { WriteScope } from '../base/write-scope.ts'
import { isReading, type Responder } from '../faults/exchange.ts'

const storage = new AsyncLocalStorage<WriteScope>()
let running = 0

/** The writes of the request that code runs for; undefined: of none, or they are handed over with the work. */
export const currentWrites = (): WriteScope | undefined => (running === 0 ? undefined : storage.getStore())

/**
 * Runs code of a request whose transactions are not handed its writes: of plugins, users, files. Following what code
 * calls costs the whole process some time before Node 24, so that it ends with the last one who needs it.
 */
export function withWrites<Value>(writes: WriteScope | undefined, work: () => Value): Value {
  if (!writes) return work()
  running++
  try {
    const value = storage.run(writes, work)
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
    isReading(request.method) ? responder(request) : withWrites(request.writes, () => responder(request))
