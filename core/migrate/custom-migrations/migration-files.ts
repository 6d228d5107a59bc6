import type { DdlContext } from '../../database/run-ddl.ts'
import type { Table } from '../../model/storage.ts'
import { MigrationRefused, type RowCheck, type Stage } from '../migration-options.ts'
import type { ActualTable, Catalogue, OwnedParts } from '../schema/catalogue.ts'
import type { SchemaRefusal } from '../schema/finding.ts'
import { type Runner, readCatalogue } from '../schema/read-catalogue.ts'
import type { CustomMigration } from './custom-migration.ts'
import { compareFiles, pendingOf, readApplied } from './migration-record.ts'
import { runCustomMigrations, skipForNewDatabase } from './run-migrations.ts'

/** The files to run, in order. */
export interface PendingFiles {
  readonly before: readonly CustomMigration[]
  readonly after: readonly CustomMigration[]
}

interface RowChecking {
  readonly files: PendingFiles
  readonly stage: Stage
  readonly checkRows: RowCheck
}

/** Objections of the rows; none yet if files run after the generated steps, which may still change them. */
export const checkRowsBefore = async (
  { files, stage, checkRows }: RowChecking,
  runner: Runner,
  catalogue: Catalogue,
): Promise<readonly SchemaRefusal[]> =>
  files.after.length > 0 && stage !== 'expand' ? [] : checkRows(runner, catalogue)

/** Runs the files that come before the generated steps and returns the catalogue afterwards. Objects that they created for the model count as Plinth's. */
export async function runBefore(
  site: DdlContext,
  { before }: PendingFiles,
  { tables, manyRows }: Desired,
): Promise<Catalogue> {
  const { database, transaction } = site
  const read = () => readCatalogue(transaction, database.schema, manyRows)
  if (before.length === 0) return read()
  const former = await read()
  await runCustomMigrations(site, before)
  return adopt(tables, former, await read())
}

interface Desired {
  readonly tables: readonly Table[]
  readonly manyRows: number | undefined
}

/** The files that were not applied yet. Rejects with a MigrationRefused if the files contradict the record. */
export async function splitPendingFiles(
  site: DdlContext,
  files: readonly CustomMigration[],
  isNew: boolean,
): Promise<PendingFiles> {
  const { schema } = site.database
  const applied = await readApplied(site.transaction, schema)
  const against = [...compareFiles(schema, files, applied)]
  if (against.length > 0) throw new MigrationRefused(against)
  const pending = pendingOf(files, applied)
  const needed = isNew ? await skipForNewDatabase(site, pending) : pending
  const at = (moment: CustomMigration['moment']) => needed.filter(file => file.moment === moment)
  return { before: at('before'), after: at('after') }
}

/**
 * Objects that files of migrations/ create under a name of the model belong to Plinth from then on. A file can thus fill a
 * column before it becomes required.
 */
function adopt(desired: readonly Table[], before: Catalogue, after: Catalogue): Catalogue {
  const adopted = desired.flatMap((table): [string, OwnedParts][] => {
    const actual = after.tables.get(table.name)
    const former = before.tables.get(table.name)
    const made = former === undefined ? NEW : after.owned.get(table.name)
    return actual === undefined || made === undefined
      ? []
      : [[table.name, withNewParts(table, { actual, former, made })]]
  })
  return { ...after, owned: new Map([...after.owned, ...adopted]) }
}

const NEW: Omit<OwnedParts, 'serves'> = {
  columns: new Set(),
  indexes: new Set(),
  constraints: new Set(),
  kinds: new Map(),
  shape: null,
}

interface Parts {
  readonly actual: ActualTable
  readonly former: ActualTable | undefined
  readonly made: Omit<OwnedParts, 'serves'>
}

function withNewParts(table: Table, { actual, former, made }: Parts): OwnedParts {
  const { columns, indexes, checks, foreignKeys } = table
  const added = (wanted: readonly Named[], now: readonly Named[], then: readonly Named[] = []) =>
    namesOf(wanted).filter(name => namesOf(now).includes(name) && !namesOf(then).includes(name))
  const constraints = [...actual.checks, ...actual.foreignKeys]
  const formerConstraints = former && [...former.checks, ...former.foreignKeys]
  return {
    ...made,
    serves: table.serves,
    columns: new Set([...made.columns, ...added(columns, actual.columns, former?.columns)]),
    indexes: new Set([...made.indexes, ...added(indexes, actual.indexes, former?.indexes)]),
    constraints: new Set([
      ...made.constraints,
      ...added([...checks, ...foreignKeys], constraints, formerConstraints),
    ]),
  }
}

interface Named {
  readonly name: string
}

const namesOf = (things: readonly Named[]): readonly string[] => things.map(({ name }) => name)
