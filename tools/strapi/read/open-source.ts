import { failed, ok, type Result } from '../../../core/base/result.ts'
import { toDatabaseFault } from '../../../core/database/database-fault.ts'
import { openDatabase } from '../../../core/database/open-database.ts'
import type { DatabaseSettings } from '../../../core/project/settings/settings.ts'
import { readTables, type StrapiDatabase } from './source.ts'

export interface SourceTerms {
  /** postgres://… */
  readonly url: string
  readonly schema: string
  readonly timeZone: string
}

/** One connection without prepared statements, so that any connection pooler works. */
const settingsOf = ({ url }: SourceTerms): DatabaseSettings => ({
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
export async function withSource<Value>(
  terms: SourceTerms,
  work: (source: StrapiDatabase) => Promise<Value>,
): Promise<Result<Value, string>> {
  if (!/^postgres(ql)?:\/\//.test(terms.url))
    return failed(
      '--database must be like postgres://user:password@host:5432/database: other databases cannot be read',
    )
  const opened = await openDatabase(settingsOf(terms), { root: '.', observe: () => {}, mayBeStandby: true })
  if (!opened.ok)
    return failed(...opened.reasons.map(({ message }) => message.replaceAll('database.url', '--database')))
  try {
    return await opened.value.transaction(transaction => overTables({ transaction, ...terms }, work), {
      isolation: 'repeatable read',
      readonly: true,
      statementTimeout: 0,
    })
  } catch (error) {
    const fault = toDatabaseFault(error)
    if (!fault) throw error
    return failed(`The database of Strapi did not answer as it should: ${fault.message}`)
  } finally {
    await opened.value.close()
  }
}

async function overTables<Value>(
  terms: SourceTerms & Pick<StrapiDatabase, 'transaction'>,
  work: (source: StrapiDatabase) => Promise<Value>,
): Promise<Result<Value, string>> {
  const zone = await terms.transaction.run({
    text: 'SELECT FROM pg_timezone_names WHERE name = $1',
    values: [terms.timeZone],
  })
  if (zone.count === 0)
    return failed(
      `--time-zone must be a name that PostgreSQL knows, such as Europe/Berlin: it has no ${terms.timeZone}`,
    )
  const tables = await readTables(terms.transaction, terms.schema)
  if (!tables.has('strapi_core_store_settings'))
    return failed(
      `The database of --database has no tables of Strapi in the schema ${terms.schema}: --database-schema names another`,
    )
  return ok(await work({ ...terms, tables }))
}
