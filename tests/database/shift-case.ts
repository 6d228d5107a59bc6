import type { Database } from '../../core/database/database.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import { openWritingOver, type Writing } from '../documents/writing.ts'
import { modelOf } from '../model/compiled.ts'

/** A project over documents that were written under others. */
export interface Stage extends Writing {
  /** Goes on with another project, whatever it costs; the documents stay. */
  become(yaml: string): Promise<Stage>
  /** The data that the migration would lose; `refused:` before impossible changes. */
  losses(yaml: string): Promise<readonly string[]>
}

/** The documents of a project, on a database that is emptied first. */
export async function stage(database: Database, yaml: string): Promise<Stage> {
  const run = (text: string) => database.run({ text, values: [] })
  await run(`DROP SCHEMA ${database.schema} CASCADE`)
  await run(`CREATE SCHEMA ${database.schema}`)
  return become(database, yaml)
}

async function become(database: Database, yaml: string): Promise<Stage> {
  const model = await modelOf(yaml)
  const { tables } = compileStorage(model)
  const migrated = await migrate(database, tables, { allowing: 'destructive' })
  if (!migrated.ok) throw new Error(migrated.reasons.map(({ message }) => message).join('\n'))
  const { steps } = await planMigration(database, tables)
  if (steps.length > 0) throw new Error(`left to do: ${steps.map(({ summary }) => summary).join('\n')}`)
  return {
    ...openWritingOver(database, model),
    become: next => become(database, next),
    losses: async next => {
      const plan = await planMigration(database, compileStorage(await modelOf(next)).tables)
      const lost = plan.steps.filter(({ weight }) => weight === 'destructive').flatMap(({ notes }) => notes)
      return [...lost, ...plan.refusals.map(({ message }) => `refused: ${message}`)]
    },
  }
}
