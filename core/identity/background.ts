import { withTimeout } from '../base/with-timeout.ts'

/**
 * Work that runs after the response, so that response times do not reveal whether an account exists (reference/safety.md#s8-sessions-and-resets). Errors go
 * to `report`.
 */
export interface Background {
  start(work: () => Promise<void>): void
  /** Resolves when all started work has ended, or after the timeout. */
  settled(): Promise<void>
}

/** Milliseconds that a shutdown waits for mails. Supervisors often kill a process after ten seconds. */
const SHUTDOWN_TIMEOUT = 5_000

export function openBackground(report: (error: unknown) => void, timeout = SHUTDOWN_TIMEOUT): Background {
  const running = new Set<Promise<void>>()
  return {
    start(work) {
      const run = work()
        .catch(report)
        .finally(() => running.delete(run))
      running.add(run)
    },
    settled: () => withTimeout(timeout, drain(running), undefined),
  }
}

async function drain(running: ReadonlySet<Promise<void>>): Promise<void> {
  while (running.size > 0) await Promise.all(running)
}
