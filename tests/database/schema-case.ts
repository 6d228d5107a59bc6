import type { ExecutionContext } from 'ava'
import type { Result } from '../../core/base/result.ts'
import type { Cell, Database } from '../../core/database/database.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import type { MigrationReport } from '../../core/migrate/migration-options.ts'
import type { SchemaRefusal } from '../../core/migrate/schema/finding.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { storageOf } from '../model/compiled.ts'

/** A database of the test's own, which declarations in YAML are brought to. */
export interface SchemaCase {
  readonly database: Database
  /** Migrates as a start does. */
  start(yaml: string): Promise<Result<MigrationReport, SchemaRefusal>>
  /** The steps of a start that must not be refused. */
  started(yaml: string): Promise<readonly string[]>
  /** The messages of a start that must be refused. */
  refused(yaml: string): Promise<readonly string[]>
  /** Runs statements like a user of psql. */
  sql(text: string, ...values: readonly unknown[]): Promise<readonly (readonly Cell[])[]>
}

export async function schemaCase(t: ExecutionContext): Promise<SchemaCase> {
  const database = await openTestDatabase(t)
  const start = async (yaml: string) => migrate(database, (await storageOf(yaml)).tables)
  return {
    database,
    start,
    async started(yaml) {
      const result = await start(yaml)
      if (!result.ok) throw new Error(result.reasons.map(reason => reason.message).join('\n'))
      return result.value.steps
    },
    async refused(yaml) {
      const result = await start(yaml)
      return result.ok ? [] : result.reasons.map(reason => reason.message)
    },
    sql: async (text, ...values) => (await database.run({ text, values })).rows,
  }
}

/** Makes the next start compare everything, as after a change by hand. */
export const forget = ({ sql }: SchemaCase) => sql(`UPDATE plinth_migrations SET fingerprint = 'another'`)
