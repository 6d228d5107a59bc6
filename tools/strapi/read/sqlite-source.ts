import { readFile, stat } from 'node:fs/promises'
import type { Database as SqliteDatabase, SqlValue } from '@sqlite.org/sqlite-wasm'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import { quoteIdentifier } from '../../../core/sql/identifier.ts'
import { openTables, type ReadColumns, type SourceColumn, type StrapiDatabase } from './source.ts'

/** Runs the work on a copy in memory of a SQLite file of Strapi. Fails with the reason. */
export async function withSqlite<Value>(
  file: string,
  work: (source: StrapiDatabase) => Promise<Result<Value, string>>,
): Promise<Result<Value, string>> {
  const bytes = await readDatabaseFile(file)
  if (!bytes.ok) return bytes
  const database = await openCopy(bytes.value)
  try {
    const tables = readTables(database)
    if (!tables.has('strapi_core_store_settings')) return failed(`${file} has no tables of Strapi`)
    return await work(openTables(tables, readRows(database)))
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('SQLITE_')) throw error
    return failed(`${file} could not be read: ${error.message}`)
  } finally {
    database.close()
  }
}

const MAGIC = 'SQLite format 3\0'

/** The bytes, unless another process is writing or has left a part of its writes in another file. */
async function readDatabaseFile(file: string): Promise<Result<Uint8Array, string>> {
  const before = await stat(file).catch(() => null)
  if (!before?.isFile()) return failed(`--database: there is no file ${file}`)
  for (const suffix of ['-wal', '-journal']) {
    const pending = await stat(file + suffix).catch(() => null)
    if (pending && pending.size > 0)
      return failed(`${file}${suffix} holds changes that are not in ${file} yet: stop Strapi first`)
  }
  const bytes = await readFile(file)
  const after = await stat(file)
  if (after.mtimeMs !== before.mtimeMs || after.size !== before.size)
    return failed(`${file} was changed while it was read: stop Strapi first`)
  if (!bytes.subarray(0, MAGIC.length).equals(Buffer.from(MAGIC)))
    return failed(`${file} is not a SQLite database`)
  return ok(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length))
}

/** Opens a database in memory. The library reads files only in browsers. */
async function openCopy(bytes: Uint8Array): Promise<SqliteDatabase> {
  const { default: initialize } = await import('@sqlite.org/sqlite-wasm')
  const { capi, oo1, wasm } = await initialize()
  const database = new oo1.DB()
  const flags = capi.SQLITE_DESERIALIZE_FREEONCLOSE | capi.SQLITE_DESERIALIZE_READONLY
  const copy = wasm.allocFromTypedArray(bytes)
  const code = capi.sqlite3_deserialize(
    database.pointer ?? 0,
    'main',
    copy,
    bytes.length,
    bytes.length,
    flags,
  )
  database.checkRc(code)
  return database
}

function readTables(database: SqliteDatabase): StrapiDatabase['tables'] {
  const rows = select(
    database,
    `SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c
     WHERE t.type = 'table' ORDER BY t.name, c.cid`,
  )
  const tables = new Map<string, SourceColumn[]>()
  for (const [table, name, type] of rows) {
    const columns = tables.get(String(table)) ?? []
    columns.push({ name: String(name), type: postgresType(String(type)) })
    tables.set(String(table), columns)
  }
  return tables
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

const select = (
  database: SqliteDatabase,
  sql: string,
  bind: readonly SqlValue[] = [],
): readonly (readonly SqlValue[])[] =>
  database.exec({
    sql,
    rowMode: 'array',
    returnValue: 'resultRows',
    ...(bind.length > 0 && { bind: [...bind] }),
  })

/** The text that PostgreSQL would give: SQLite stores booleans as numbers, and Strapi times as milliseconds. */
function toText(cell: SqlValue | undefined, type: string | undefined): string | null {
  if (cell === null || cell === undefined) return null
  if (type === 'boolean') return String(cell === 1 || cell === 1n || cell === 'true')
  if (type === 'timestamp without time zone') return momentOf(cell)
  if (type === 'date') return momentOf(cell).slice(0, 10)
  return typeof cell === 'object' ? Buffer.from(cell as Uint8Array).toString('utf8') : String(cell)
}

/** ISO 8601 in UTC, of milliseconds or of SQLite's `2026-01-31 10:00:00`. A text that is no time stays as it is. */
function momentOf(cell: Exclude<SqlValue, null>): string {
  const time = new Date(typeof cell === 'string' ? toIso(cell) : Number(cell))
  return Number.isNaN(time.getTime()) ? String(cell) : time.toISOString()
}

const toIso = (text: string): string =>
  /^\d{4}-\d\d-\d\d \d\d:\d\d/.test(text) && !/[Zz+]/.test(text) ? `${text.replace(' ', 'T')}Z` : text
