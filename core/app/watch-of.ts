import type { DatabaseWatch } from '../database/watch-database.ts'
import type { Meters } from '../metrics/meters.ts'
import type { Observer } from '../observe/observation.ts'
import type { Blueprint } from './compile-app.ts'

export interface WatchTerms {
  readonly observer: Observer
  readonly production: boolean
  /** Absent or null: nobody counts. */
  readonly meters?: Meters | null
}

/** What of the work of an app's database is told. */
export const watchOf = (
  { project }: Blueprint,
  { observer, production, meters }: WatchTerms,
): DatabaseWatch => ({
  slow: project.settings.server.slowQuery,
  tellSlow: slow => observer.tell({ kind: 'slowWork', ...slow }),
  isTimed: !production,
  count: meters ? meters.ran : null,
  trace: null,
})
