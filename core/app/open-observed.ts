import { createRedactor } from '../base/redact.ts'
import type { Result } from '../base/result.ts'
import type { DatabaseObservation } from '../database/observation.ts'
import { openLog } from '../observe/log.ts'
import { type Meters, meteredObserver } from '../observe/metrics/meters.ts'
import type { Observation, Observer } from '../observe/observation.ts'
import type { Blueprint } from './compile-app.ts'
import { type App, type OpenTerms, openApp } from './open-app.ts'
import { secretsOf } from './secrets-of.ts'
import type { StartFault } from './start-fault.ts'

export interface LogTerms {
  /** Where the log goes, a line at a time. */
  readonly write: (line: string) => void
  /** Sentences instead of JSON. */
  readonly pretty: boolean
  /** The number of this process among several workers, for each line. */
  readonly worker?: number | undefined
  /** Counts what is told; absent or null: nobody does. */
  readonly meters?: Meters | null
}

/** A log in which none of the project's secrets shows. */
export function observerOf(
  { project: { settings } }: Blueprint,
  { write, pretty, worker, meters }: LogTerms,
): Observer {
  const redact = createRedactor(secretsOf(settings))
  const log = openLog({ write, pretty, worker, level: settings.server.logLevel, redact })
  return meters ? meteredObserver(log, meters) : log
}

/** Blueprint → an app; what happens to its database goes to an observer of its own. */
export const openObserved = (
  blueprint: Blueprint,
  databaseObserver: Observer,
  terms: Pick<
    OpenTerms,
    'production' | 'observer' | 'meters' | 'tracing' | 'embedded' | 'others' | 'signal' | 'enter'
  >,
): Promise<Result<App, StartFault>> =>
  openApp(blueprint, { ...terms, observe: seen => databaseObserver.emit(toObservation(seen)) })

function toObservation(seen: DatabaseObservation): Observation {
  switch (seen.event) {
    case 'database.opened':
      return { kind: 'databaseOpened', database: seen.kind, milliseconds: seen.milliseconds }
    case 'database.recovered':
      return { kind: 'databaseRecovered', pid: seen.pid }
    case 'database.awaited':
      return { kind: 'databaseAwaited', message: seen.message, milliseconds: seen.milliseconds }
    case 'database.connection-lost':
      return { kind: 'connectionLost', message: seen.message }
    case 'database.replica': {
      const { place, isWell, message } = seen
      return isWell ? { kind: 'replicaBack', place } : { kind: 'replicaAway', place, message }
    }
    case 'database.access-failed':
      return { kind: 'accessFailed', message: seen.message }
    case 'database.upkeep-failed':
      return { kind: 'upkeepFailed', message: seen.message }
  }
}
