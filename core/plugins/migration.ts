import type { MigrationTools } from '../migrate/custom-migrations/custom-migration.ts'
import { KIND, nameType } from './plugin-module.ts'

export interface MigrationOptions {
  /** Also runs on new databases: for objects that the project file does not create, such as views. */
  readonly newDatabases?: boolean
}

/** Default export of a module in migrations/. */
export interface Migration extends Required<MigrationOptions> {
  readonly [KIND]: 'migration'
  run(tools: MigrationTools): unknown
}

/** Defines a custom migration step. It runs once per database, in the transaction of the generated steps. */
export const defineMigration = (
  run: (tools: MigrationTools) => unknown,
  { newDatabases = false }: MigrationOptions = {},
): Migration => {
  if (typeof run !== 'function')
    throw new Error(`defineMigration(…) takes a function, found ${nameType(run)}`)
  return Object.freeze({ run, newDatabases, [KIND]: 'migration' as const })
}
