import { toDatabaseFault } from '../database/database-fault.ts'
import type { DatabaseWatch } from '../database/watch-database.ts'
import type { Meters } from '../observe/metrics/meters.ts'
import type { Observer } from '../observe/observation.ts'
import type { Tracing } from '../observe/tracing.ts'
import type { Blueprint } from './compile-app.ts'

export interface WatchTerms {
  readonly observer: Observer
  readonly production: boolean
  /** Absent or null: nobody counts. */
  readonly meters?: Meters | null
  /** Absent or null: nobody traces. */
  readonly tracing?: Tracing | null
}

/** What of the work of an app's database is told. */
export const watchOf = (
  { project }: Blueprint,
  { observer, production, meters, tracing }: WatchTerms,
): DatabaseWatch => ({
  slow: project.settings.server.slowQuery,
  tellSlow: slow => observer.emit({ kind: 'slowWork', ...slow }),
  isTimed: !production,
  count: meters ? meters.onDatabaseWork : null,
  trace: tracing ? traceWork(tracing) : null,
})

/** https://opentelemetry.io/docs/specs/semconv/database/; what an error says may quote a value. */
const traceWork =
  (tracing: Tracing): NonNullable<DatabaseWatch['trace']> =>
  (kind, name) => {
    const end = tracing.startSpan(name, { 'db.system.name': 'postgresql', 'db.operation.name': kind })
    return error => end(error === undefined ? undefined : (toDatabaseFault(error)?.kind ?? 'refused'))
  }
