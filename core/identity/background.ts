import { withTimeout } from '../base/with-timeout.ts'

/**
 * Work that an answer does not wait for, so that its time does not tell what was to be done (safety S8).
 * What it throws goes to `report`.
 */
export interface Background {
  start(work: () => Promise<void>): void
  /** When all that was started has ended, or has had its time. */
  settled(): Promise<void>
}

/** Milliseconds that a server which is told to end waits for mails: who tells it so waits for ten seconds, often. */
const PATIENCE = 5_000

export function openBackground(report: (error: unknown) => void, patience = PATIENCE): Background {
  const running = new Set<Promise<void>>()
  return {
    start(work) {
      const run = work()
        .catch(report)
        .finally(() => running.delete(run))
      running.add(run)
    },
    settled: () => withTimeout(patience, allOf(running), undefined),
  }
}

async function allOf(running: ReadonlySet<Promise<void>>): Promise<void> {
  while (running.size > 0) await Promise.all(running)
}
