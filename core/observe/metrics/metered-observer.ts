import type { Observer } from '../observation.ts'
import type { Meters } from './meters.ts'

/** Counts what a log is told, too. */
export const meteredObserver = (observer: Observer, meters: Pick<Meters, 'heard'>): Observer => ({
  hears: kind => observer.hears(kind),
  tell(observation) {
    meters.heard(observation)
    observer.tell(observation)
  },
})
