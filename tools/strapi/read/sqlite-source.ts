import { constants } from 'node:fs'
import { copyFile, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { SQLiteValue, Database as SqliteDatabase } from 'node-sqlite3-wasm'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import { quoteIdentifier } from '../../../core/sql/identifier.ts'
import { temporaryFolder } from '../../transfer/partial-path.ts'
import { groupColumns, openTables, type ReadColumns, type StrapiDatabase } from './source.ts'

/** Runs the work on a copy of a SQLite file of Strapi. Fails with the reason. */
export async function withSqlite<Value>(
  file: string,
  work: (source: StrapiDatabase) => Promise<Result<Value, string>>,
): Promise<Result<Value, string>> {
  const folder = await temporaryFolder('plinth-sqlite')
  try {
    const copied = await copyDatabase(file, join(folder, 'data.db'))
    return copied.ok ? await overCopy(copied.value, work) : copied
  } catch (error) {
    const { SQLite3Error } = await loadSqlite()
    if (!(error instanceof SQLite3Error)) throw error
    return failed(`${file} could not be read: ${error.message}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A module of CommonJS. */
const loadSqlite = async () => (await import('node-sqlite3-wasm')).default

async function overCopy<Value>(
  copy: string,
  work: (source: StrapiDatabase) => Promise<Result<Value, string>>,
): Promise<Result<Value, string>> {
  const { Database } = await loadSqlite()
  const database = new Database(copy, { fileMustExist: true })
  try {
    const tables = readTables(database)
    // It is open, and has hashes of passwords: without a name, it is gone with the process, also if that is killed.
    await rm(copy)
    if (!tables.has('strapi_core_store_settings'))
      return failed('The file of --database has no tables of Strapi')
    return await work(openTables(tables, readRows(database)))
  } finally {
    database.close()
  }
}

const MAGIC = Buffer.from('SQLite format 3\0')

/** Copies the file, unless another process is writing to it or has left a part of its writes in another file. */
async function copyDatabase(file: string, copy: string): Promise<Result<string, string>> {
  const before = await stat(file).catch(() => null)
  if (!before?.isFile()) return failed(`--database: there is no file ${file}`)
  for (const suffix of ['-wal', '-journal']) {
    const pending = await stat(file + suffix).catch(() => null)
    if (pending && pending.size > 0)
      return failed(`${file}${suffix} holds changes that are not in ${file} yet: stop Strapi first`)
  }
  await copyFile(file, copy, constants.COPYFILE_FICLONE)
  const after = await stat(file)
  if (after.mtimeMs !== before.mtimeMs || after.size !== before.size)
    return failed(`${file} was changed while it was read: stop Strapi first`)
  return (await beginsWith(copy, MAGIC)) ? ok(copy) : failed(`${file} is not a SQLite database`)
}

async function beginsWith(file: string, bytes: Buffer): Promise<boolean> {
  const handle = await open(file)
  try {
    const { buffer } = await handle.read(Buffer.alloc(bytes.length), 0, bytes.length, 0)
    return buffer.equals(bytes)
  } finally {
    await handle.close()
  }
}

function readTables(database: SqliteDatabase): StrapiDatabase['tables'] {
  const rows = select(
    database,
    `SELECT t.name AS table_name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c
     WHERE t.type = 'table' ORDER BY t.name, c.cid`,
  )
  return groupColumns(rows.map(([table, name, type]) => [table, name, postgresType(String(type))]))
}

/** The PostgreSQL types that Strapi uses where it declares these in SQLite. */
const POSTGRES_TYPES: Readonly<Record<string, string>> = {
  varchar: 'character varying',
  datetime: 'timestamp without time zone',
  float: 'double precision',
  decimal: 'numeric',
  json: 'jsonb',
}

function postgresType(declared: string): string {
  const name = declared.replace(/\(.*/, '').trim().toLowerCase()
  return POSTGRES_TYPES[name] ?? name
}

const readRows =
  (database: SqliteDatabase): ReadColumns =>
  async ({ table, columns, among, orderBy = [] }) => {
    const text = [
      `SELECT ${columns.map(({ name }) => quoteIdentifier(name)).join(', ') || 'NULL'} FROM ${quoteIdentifier(table)}`,
      ...(among ? [`WHERE ${quoteIdentifier(among.column)} IN (SELECT value FROM json_each(?))`] : []),
      ...(orderBy.length > 0 ? [`ORDER BY ${orderBy.map(name => orderOf(name)).join(', ')}`] : []),
    ].join(' ')
    const rows = select(database, text, among && [JSON.stringify(among.values)])
    return rows.map(cells => cells.map((cell, index) => toText(cell, columns[index]?.type)))
  }

/** PostgreSQL sorts nulls last. */
const orderOf = (name: string): string => `${quoteIdentifier(name)} NULLS LAST`

/** Rows as arrays in the order of the columns, whose names differ. */
function select(
  database: SqliteDatabase,
  sql: string,
  values: readonly string[] = [],
): readonly (readonly SQLiteValue[])[] {
  const rows = database.all(sql, [...values])
  return rows.map(row => Object.values(row))
}

/** The text that PostgreSQL would give: SQLite stores booleans as numbers, and Strapi times as milliseconds. */
function toText(cell: SQLiteValue | undefined, type: string | undefined): string | null {
  if (cell === null || cell === undefined) return null
  if (type === 'boolean') return String(cell === 1 || cell === 1n || cell === 'true')
  if (type === 'timestamp without time zone') return momentOf(cell)
  if (type === 'date') return momentOf(cell).slice(0, 10)
  return typeof cell === 'object' ? Buffer.from(cell as Uint8Array).toString('utf8') : String(cell)
}

/** ISO 8601 in UTC, of milliseconds or of SQLite's `2026-01-31 10:00:00`. A text that is no time stays as it is. */
function momentOf(cell: Exclude<SQLiteValue, null>): string {
  const time = new Date(typeof cell === 'string' ? toIso(cell) : Number(cell))
  return Number.isNaN(time.getTime()) ? String(cell) : time.toISOString()
}

const toIso = (text: string): string =>
  /^\d{4}-\d\d-\d\d \d\d:\d\d/.test(text) && !/[Zz+]/.test(text) ? `${text.replace(' ', 'T')}Z` : text
