import { failed, ok, type Result } from '../../../core/base/result.ts'
import type { Cell, Transaction } from '../../../core/database/database.ts'
import { toDatabaseFault } from '../../../core/database/database-fault.ts'
import { openDatabase } from '../../../core/database/open-database.ts'
import type { DatabaseSettings } from '../../../core/project/settings/settings.ts'
import { quoteIdentifier, quoteText } from '../../../core/sql/identifier.ts'
import {
  groupColumns,
  openTables,
  type ReadColumns,
  type SourceColumn,
  type StrapiDatabase,
} from './source.ts'

export interface PostgresSourceOptions {
  /** postgres://… */
  readonly url: string
  /** The schema of Strapi's tables. */
  readonly schema: string
  /** The time zone of Strapi's process, in which it stored times without a zone. */
  readonly timeZone: string
}

/** One connection without prepared statements, so that any connection pooler works. */
const settingsOf = (url: string): DatabaseSettings => ({
  url,
  replicas: [],
  replicaLag: 0,
  pool: { max: 1, idle: 10_000, acquire: 30_000 },
  startTimeout: 0,
  statementTimeout: 0,
  limits: { time: 0, bytes: 0, statements: 4 },
  preparedStatements: false,
  indexes: 'declared',
  schema: 'public',
})

/** Runs the work in one read-only transaction (one snapshot) of a Strapi database. Fails with the reason. */
export async function withPostgres<Value>(
  options: PostgresSourceOptions,
  work: (source: StrapiDatabase) => Promise<Result<Value, string>>,
): Promise<Result<Value, string>> {
  const opened = await openDatabase(settingsOf(options.url), {
    root: '.',
    observe: () => {},
    mayBeStandby: true,
  })
  if (!opened.ok)
    return failed(...opened.reasons.map(({ message }) => message.replaceAll('database.url', '--database')))
  try {
    return await opened.value.transaction(
      async transaction => {
        const source = await openIn(transaction, options)
        return source.ok ? work(source.value) : source
      },
      { isolation: 'repeatable read', readonly: true, statementTimeout: 0 },
    )
  } catch (error) {
    const fault = toDatabaseFault(error)
    if (!fault) throw error
    return failed(`The database of Strapi did not answer as it should: ${fault.message}`)
  } finally {
    await opened.value.close()
  }
}

async function openIn(
  transaction: Transaction,
  options: PostgresSourceOptions,
): Promise<Result<StrapiDatabase, string>> {
  const zone = await transaction.run({
    text: 'SELECT FROM pg_timezone_names WHERE name = $1',
    values: [options.timeZone],
  })
  if (zone.count === 0)
    return failed(
      `--time-zone must be a name that PostgreSQL knows, such as Europe/Berlin: it has no ${options.timeZone}`,
    )
  const tables = await readTables(transaction, options.schema)
  if (tables.has('strapi_core_store_settings')) return ok(openTables(tables, readRows(transaction, options)))
  return failed(
    `The database of --database has no tables of Strapi in the schema ${options.schema}: --database-schema names another`,
  )
}

async function readTables(transaction: Transaction, schema: string): Promise<StrapiDatabase['tables']> {
  const { rows } = await transaction.run({
    text: `SELECT table_name, column_name, data_type FROM information_schema.columns
      WHERE table_schema = $1 ORDER BY table_name, ordinal_position`,
    values: [schema],
    name: 'read the tables of Strapi',
  })
  return groupColumns(rows)
}

const readRows =
  (transaction: Transaction, { schema, timeZone }: PostgresSourceOptions): ReadColumns =>
  async ({ table, columns, among, orderBy = [] }) => {
    const { rows } = await transaction.run({
      text: [
        `SELECT ${columns.map(column => expressionOf(column, timeZone)).join(', ')}`,
        `FROM ${quoteIdentifier(schema)}.${quoteIdentifier(table)}`,
        ...(among ? [`WHERE ${quoteIdentifier(among.column)} = ANY($1)`] : []),
        ...(orderBy.length > 0 ? [`ORDER BY ${orderBy.map(quoteIdentifier).join(', ')}`] : []),
      ].join(' '),
      values: among ? [among.values] : [],
      name: `read ${table} of Strapi`,
    })
    return rows.map(cells => cells.map(toText))
  }

const toText = (cell: Cell): string | null => (cell === null ? null : String(cell))

function expressionOf({ name, type }: SourceColumn, zone: string): string {
  const column = quoteIdentifier(name)
  if (type === 'timestamp without time zone') return momentOf(`(${column} AT TIME ZONE ${quoteText(zone)})`)
  return type === 'timestamp with time zone' ? momentOf(column) : `${column}::text`
}

const momentOf = (moment: string): string =>
  `to_char(${moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
