import type { Site } from '../database/run-ddl.ts'
import { qualified } from '../sql/ddl.ts'
import type { Handwritten } from './custom-migrations.ts'
import { hasTable } from './recorded-schema.ts'
import { refusal, type SchemaRefusal } from './schema/finding.ts'
import type { Runner } from './schema/read-catalogue.ts'

/** A row of `plinth_migration_files`. */
export interface AppliedFile {
  readonly name: string
  readonly checksum: string
  /** ISO 8601, UTC. */
  readonly appliedAt: string
  /** false: the database was made when the file was there already. */
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

/** By name; empty where nothing was migrated yet. */
export async function readApplied(runner: Runner, schema: string): Promise<readonly AppliedFile[]> {
  if (!(await hasTable(runner, schema, TABLE))) return []
  const text = `SELECT coalesce(json_agg(json_build_object('name', name, 'checksum', checksum, 'appliedAt',
    to_char(applied_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'ran', ran) ORDER BY name), '[]')::text
    FROM ${qualified(schema, TABLE)}`
  const { rows } = await runner.run({ text, values: [], name: 'read migration files' })
  return JSON.parse(String(rows[0]?.[0]))
}

export async function recordFile(
  { database: { schema }, transaction }: Site,
  { name, checksum }: Handwritten,
  ran: boolean,
): Promise<void> {
  const text = `INSERT INTO ${qualified(schema, TABLE)} (name, checksum, ran) VALUES ($1, $2, $3)`
  await transaction.run({ text, values: [name, checksum, ran], name: 'record migration file' })
}

/** Those that were not applied, in the order to run them in. */
export const pendingOf = (
  files: readonly Handwritten[],
  applied: readonly AppliedFile[],
): readonly Handwritten[] => {
  const done = new Set(applied.map(({ name }) => name))
  return files.filter(({ name }) => !done.has(name)).toSorted(inOrder)
}

/** `a.before.sql` comes before `a.after.sql`, whatever the alphabet says. */
const inOrder = (one: FileName, other: FileName): number => (orderOf(one) < orderOf(other) ? -1 : 1)

type FileName = Pick<Handwritten, 'name'>

function orderOf({ name }: FileName): string {
  const parts = name.split('.')
  const rank = parts.length > 2 ? RANKS[parts.at(-2) ?? ''] : undefined
  return rank === undefined ? name : parts.slice(0, -2).join('.') + rank + (parts.at(-1) ?? '')
}

const RANKS: Readonly<Record<string, string>> = { before: '\u0000', after: '\u0001' }

/** What of migrations/ does not agree with what was applied. */
export function* compareFiles(
  schema: string,
  files: readonly Handwritten[],
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

const tooEarly = ({ name }: Handwritten, last: AppliedFile): SchemaRefusal =>
  refusal(
    'migration-order',
    null,
    `migrations/${name} is new, but sorts before migrations/${last.name}, which ${when(last)}: give it a later name`,
  )
