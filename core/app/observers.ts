import { createRedactor } from '../base/redact.ts'
import { splitHosts } from '../database/connect/target-url.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import type { DatabaseObservation } from '../database/open-options.ts'
import type { DatabaseWatch } from '../database/watch-database.ts'
import { openLog } from '../observe/log.ts'
import { type Meters, meteredObserver } from '../observe/metrics/meters.ts'
import type { Observation, Observer } from '../observe/observation.ts'
import type { Tracing } from '../observe/tracing.ts'
import type { Settings } from '../project/settings/settings.ts'
import type { Blueprint } from './compile-app.ts'

export interface DatabaseWatchOptions {
  readonly observer: Observer
  readonly production: boolean
  /** Absent or null: no metrics. */
  readonly meters?: Meters | null
  /** Absent or null: no tracing. */
  readonly tracing?: Tracing | null
}

/** The observation of an app's database: slow statements, counts and traces. */
export const databaseWatchOf = (
  { project }: Blueprint,
  { observer, production, meters, tracing }: DatabaseWatchOptions,
): DatabaseWatch => ({
  slow: project.settings.server.slowQuery,
  reportSlow: slow => observer.emit({ kind: 'slowWork', ...slow }),
  isTimed: !production,
  count: meters ? meters.onDatabaseWork : null,
  trace: tracing ? traceWork(tracing) : null,
})

/** https://opentelemetry.io/docs/specs/semconv/database/. Error messages are left out: they may quote values. */
const traceWork =
  (tracing: Tracing): NonNullable<DatabaseWatch['trace']> =>
  (kind, name) => {
    const end = tracing.startSpan(name, { 'db.system.name': 'postgresql', 'db.operation.name': kind })
    return error => end(error === undefined ? undefined : (toDatabaseFault(error)?.kind ?? 'refused'))
  }

/** All secrets that a log must not contain, including passwords inside URLs. */
export const secretsOf = ({ auth, apiTokens, database, upload }: Settings): readonly string[] =>
  [
    auth.jwtSecret,
    ...auth.jwtPreviousSecrets,
    ...Object.values(auth.providers).map(({ clientSecret }) => clientSecret),
    ...Object.values(apiTokens).flatMap(({ secret, hash }) => [secret ?? '', hash ?? '']),
    ...[...splitHosts(database.url), ...database.replicas, auth.mail.url ?? ''].flatMap(passwordOf),
    String(upload.providerOptions.secretAccessKey ?? ''),
  ].filter(secret => secret !== '')

function passwordOf(url: string): readonly string[] {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || parsed.password === '') return []
  const plain = new URLSearchParams(`password=${parsed.password.replaceAll('+', '%2B')}`).get('password')
  return [parsed.password, plain ?? '']
}

export interface AppLogOptions {
  /** Writes one line of the log. */
  readonly write: (line: string) => void
  /** Sentences instead of JSON lines. */
  readonly pretty: boolean
  /** The worker number of this process, added to each line. */
  readonly worker?: number | undefined
  /** Counts observations; absent or null: no metrics. */
  readonly meters?: Meters | null
}

/** A log that redacts all secrets of the project. */
export function observerOf(
  { project: { settings } }: Blueprint,
  { write, pretty, worker, meters }: AppLogOptions,
): Observer {
  const redact = createRedactor(secretsOf(settings))
  const log = openLog({ write, pretty, worker, level: settings.server.logLevel, redact })
  return meters ? meteredObserver(log, meters) : log
}

export function toObservation(seen: DatabaseObservation): Observation {
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
