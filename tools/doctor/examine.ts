import type { Database } from '../../core/database/database.ts'
import type { MigrationPlan } from '../../core/migrate/plan-migration.ts'
import { type Advice, counted } from './advice.ts'
import { lookAtReads, type ReadCheckContext } from './check-reads.ts'
import { lookAtSettings, type SettingsTerms } from './check-settings.ts'
import { lookAtDrafts, lookAtTables } from './check-tables.ts'
import type { SlowRead } from './slow-reads.ts'
import { readStatistics } from './table-statistics.ts'

export interface Examination extends SettingsTerms, Omit<ReadCheckContext, 'rowsIn'> {
  readonly database: Database
  readonly reads: readonly SlowRead[]
  /** The pending migration. */
  readonly plan: Pick<MigrationPlan, 'steps' | 'refusals'>
}

/** Checks settings, tables and slow reads. Returns faults first. */
export async function examine(terms: Examination): Promise<readonly Advice[]> {
  const { database, storage, settings, plan } = terms
  const numbers = await readStatistics(
    database,
    storage.tables.map(({ name }) => name),
  )
  const rows = new Map(numbers.tables.map(table => [table.name, table.rows]))
  const isThere = numbers.tables.length >= storage.tables.length
  const advice = [
    ...lookAtSettings(terms, numbers),
    ...lookAtDrafts(settings, terms.model),
    ...migrationOf(plan),
    ...lookAtTables(numbers, { ...terms, hasReplicas: settings.database.replicas.length > 0 }),
    ...(isThere ? await lookAtReads(terms.reads, { ...terms, rowsIn: table => rows.get(table) ?? 0 }) : []),
  ]
  return [...advice.filter(isFault), ...advice.filter(one => !isFault(one))]
}

export const isFault = ({ severity }: Advice): boolean => severity === 'fault'

function migrationOf({ steps, refusals }: Examination['plan']): readonly Advice[] {
  const count = steps.length + refusals.length
  if (count === 0) return []
  const found = `${counted(count)} ${count === 1 ? 'thing' : 'things'} of the database differ from what the project wants`
  return [
    {
      severity: 'advice',
      code: 'not-migrated',
      about: 'database',
      found,
      remedy: '`plinth plan` tells them',
    },
  ]
}
