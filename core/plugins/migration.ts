import type { MigrationTools } from '../migrate/custom-migrations.ts'
import { KIND } from './kind.ts'

export interface MigrationOptions {
  /** Runs on databases that are made from now on, too: for what the project file does not make, such as views. */
  readonly newDatabases?: boolean
}

/** What a module of migrations/ exports. */
export interface Migration extends Required<MigrationOptions> {
  readonly [KIND]: 'migration'
  run(tools: MigrationTools): unknown
}

/** A step of a migration, run once on each database, in the transaction of the generated ones. */
export const defineMigration = (
  run: (tools: MigrationTools) => unknown,
  { newDatabases = false }: MigrationOptions = {},
): Migration => Object.freeze({ run, newDatabases, [KIND]: 'migration' as const })
