import type { Database } from '../../database/database.ts'
import type { DdlContext } from '../../database/run-ddl.ts'
import { qualified } from '../../sql/ddl.ts'
import { hasTable } from '../recorded-schema.ts'
import { refusal, type SchemaRefusal } from '../schema/finding.ts'
import type { Runner } from '../schema/read-catalogue.ts'
import type { CustomMigration } from './custom-migration.ts'

/** A row of `plinth_migration_files`. */
export interface AppliedFile {
  readonly name: string
  readonly checksum: string
  /** ISO 8601, UTC. */
  readonly appliedAt: string
  /** false: the file existed when the database was created. */
  readonly ran: boolean
}

const TABLE = 'plinth_migration_files'

export const printMigrationFiles = (
  schema: string,
): string => `CREATE TABLE IF NOT EXISTS ${qualified(schema, TABLE)} (
  name text PRIMARY KEY,
  checksum text NOT NULL,
  applied_at timestamptz(3) NOT NULL DEFAULT now(),
  ran boolean NOT NULL
)`

/** By name; empty before the first migration. */
export async function readApplied(runner: Runner, schema: string): Promise<readonly AppliedFile[]> {
  if (!(await hasTable(runner, schema, TABLE))) return []
  const text = `SELECT coalesce(json_agg(json_build_object('name', name, 'checksum', checksum, 'appliedAt',
    to_char(applied_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'ran', ran) ORDER BY name), '[]')::text
    FROM ${qualified(schema, TABLE)}`
  const { rows } = await runner.run({ text, values: [], name: 'read migration files' })
  return JSON.parse(String(rows[0]?.[0]))
}

export async function recordFile(
  { database: { schema }, transaction }: DdlContext,
  { name, checksum }: CustomMigration,
  ran: boolean,
): Promise<void> {
  const text = `INSERT INTO ${qualified(schema, TABLE)} (name, checksum, ran) VALUES ($1, $2, $3)`
  await transaction.run({ text, values: [name, checksum, ran], name: 'record migration file' })
}

/** The files that were not applied, in their order. */
export const pendingOf = (
  files: readonly CustomMigration[],
  applied: readonly AppliedFile[],
): readonly CustomMigration[] => {
  const done = new Set(applied.map(({ name }) => name))
  return files.filter(({ name }) => !done.has(name)).toSorted(inOrder)
}

/** By name, but `a.before.sql` comes before `a.after.sql`. */
const inOrder = (one: FileName, other: FileName): number => (orderOf(one) < orderOf(other) ? -1 : 1)

type FileName = Pick<CustomMigration, 'name'>

function orderOf({ name }: FileName): string {
  const parts = name.split('.')
  const rank = parts.length > 2 ? RANKS[parts.at(-2) ?? ''] : undefined
  return rank === undefined ? name : parts.slice(0, -2).join('.') + rank + (parts.at(-1) ?? '')
}

const RANKS: Readonly<Record<string, string>> = { before: '\u0000', after: '\u0001' }

/** Refusals for files that changed or disappeared after they were applied. */
export function* compareFiles(
  schema: string,
  files: readonly CustomMigration[],
  applied: readonly AppliedFile[],
): Generator<SchemaRefusal> {
  const byName = new Map(files.map(file => [file.name, file]))
  for (const one of applied) {
    const file = byName.get(one.name)
    if (file === undefined) yield missing(schema, one)
    else if (file.checksum !== one.checksum) yield changed(schema, one)
  }
  const last = applied.toSorted(inOrder).at(-1)
  if (last === undefined) return
  for (const file of pendingOf(files, applied)) if (inOrder(file, last) < 0) yield tooEarly(file, last)
}

const when = ({ appliedAt, ran }: AppliedFile): string =>
  ran ? `was applied at ${appliedAt}` : `was there when this database was made, at ${appliedAt}`

const forget = (schema: string, { name }: AppliedFile): string =>
  `DELETE FROM ${qualified(schema, TABLE)} WHERE name = '${name.replaceAll("'", "''")}'`

const missing = (schema: string, one: AppliedFile): SchemaRefusal =>
  refusal(
    'migration-missing',
    null,
    `migrations/${one.name} is not there, but it ${when(one)}: put it back; or, where every database has it, let this one forget it: ${forget(schema, one)}`,
  )

const changed = (schema: string, one: AppliedFile): SchemaRefusal =>
  refusal(
    'migration-changed',
    null,
    `migrations/${one.name} was changed after it ${when(one)}: put its text back and write a new file; or have it run again: ${forget(schema, one)}`,
  )

const tooEarly = ({ name }: CustomMigration, last: AppliedFile): SchemaRefusal =>
  refusal(
    'migration-order',
    null,
    `migrations/${name} is new, but sorts before migrations/${last.name}, which ${when(last)}: give it a later name`,
  )

/** State of a file of migrations/ in one database. */
export interface CustomMigrationStatus {
  readonly name: string
  /** `skipped`: the file existed when the database was created. `changed`, `missing`: after it was applied. */
  readonly state: 'applied' | 'skipped' | 'pending' | 'changed' | 'missing'
  /** ISO 8601, UTC; null: it is pending. */
  readonly appliedAt: string | null
}

/** All files that exist or were applied, by name. */
export async function readCustomMigrationStatus(
  database: Database,
  files: readonly CustomMigration[],
): Promise<readonly CustomMigrationStatus[]> {
  const applied = new Map((await readApplied(database, database.schema)).map(one => [one.name, one]))
  const there = new Map(files.map(file => [file.name, file]))
  const names = [...new Set([...applied.keys(), ...there.keys()])].toSorted()
  return names.map(name => {
    const done = applied.get(name)
    return { name, state: stateOf(done, there.get(name)), appliedAt: done?.appliedAt ?? null }
  })
}

function stateOf(
  done: AppliedFile | undefined,
  file: CustomMigration | undefined,
): CustomMigrationStatus['state'] {
  if (done === undefined) return 'pending'
  if (file === undefined) return 'missing'
  if (file.checksum !== done.checksum) return 'changed'
  return done.ran ? 'applied' : 'skipped'
}
