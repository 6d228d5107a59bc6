/**
 * Work that an answer does not wait for, so that its time does not tell what was to be done (safety S8).
 * What it throws goes to `report`.
 */
export interface Background {
  start(work: () => Promise<void>): void
  /** When all that was started has ended. */
  settled(): Promise<void>
}

export function openBackground(report: (error: unknown) => void): Background {
  const running = new Set<Promise<void>>()
  return {
    start(work) {
      const run = work()
        .catch(report)
        .finally(() => running.delete(run))
      running.add(run)
    },
    async settled() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
