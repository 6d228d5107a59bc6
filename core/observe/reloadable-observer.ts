import type { Observer } from './observation.ts'

/** Hands on to one observer at a time. */
export interface ChangingObserver extends Observer {
  /** From now on this one hears. */
  change(to: Observer): void
}

export function changingObserver(first: Observer): ChangingObserver {
  let current = first
  return {
    hears: kind => current.hears(kind),
    tell: observation => current.tell(observation),
    change(to) {
      current = to
    },
  }
}
