import type { WriteScope } from '../../base/request-context.ts'
import { abandon } from '../connect/cancel.ts'
import type { Connection } from '../connection.ts'

/** Ends a transaction when the time of its request is over. */
export interface TimeWatch {
  /**
   * Whether the server warned after that. A COMMIT that is cancelled while it waits for a synchronous replica succeeds,
   * with a warning that the replica may not have it.
   */
  isUnreplicated(): boolean
  stop(): void
}

/**
 * Cancels whatever the transaction is doing, its COMMIT included: the server then answers whether that came in time.
 * The embedded database cannot cancel: there the transaction ends before its COMMIT is sent, or succeeds.
 */
export function watchTime(writes: WriteScope, connection: Connection): TimeWatch {
  let isWarned = false
  const warn = () => {
    isWarned = true
  }
  const forget = writes.onClose(() => {
    if (!connection.plinthCancels) return
    connection.on('notice', warn)
    abandon(connection)
  })
  return {
    isUnreplicated: () => isWarned,
    stop() {
      forget()
      connection.off('notice', warn)
    },
  }
}
