import { failed, ok, type Result } from '../../../core/base/result.ts'
import type { PostgresSourceOptions } from './postgres-source.ts'
import type { ArchiveOptions } from './read-archive.ts'
import type { StrapiDatabase } from './source.ts'

export interface DatabaseOptions extends Omit<PostgresSourceOptions, 'url'> {
  /** `postgres://…`, or the path of a SQLite file. */
  readonly database: string
}

/** A database, or an archive of `strapi export`. */
export type SourceOptions = DatabaseOptions | ArchiveOptions

/** Runs the work on one snapshot of a Strapi database. Fails with the reason. */
export async function withSource<Value>(
  options: SourceOptions,
  work: (source: StrapiDatabase) => Promise<Value>,
): Promise<Result<Value, string>> {
  const succeed = async (source: StrapiDatabase) => ok(await work(source))
  if ('archive' in options) return withArchive(options, succeed)
  const { database, schema, timeZone } = options
  if (/^postgres(ql)?:\/\//.test(database)) {
    const { withPostgres } = await import('./postgres-source.ts')
    return withPostgres({ url: database, schema, timeZone }, succeed)
  }
  if (/^[a-z][a-z0-9+]+:\/\//i.test(database))
    return failed(
      '--database must be like postgres://user:password@host:5432/database, or the path of a SQLite file: other databases cannot be read',
    )
  const { withSqlite } = await import('./sqlite-source.ts')
  return withSqlite(database.replace(/^sqlite:/, ''), succeed)
}

async function withArchive<Value>(
  options: Extract<SourceOptions, ArchiveOptions>,
  work: (source: StrapiDatabase) => Promise<Result<Value, string>>,
): Promise<Result<Value, string>> {
  const { readArchive } = await import('./read-archive.ts')
  const lines = await readArchive(options)
  if (!lines.ok) return lines
  const { archiveTables } = await import('./archive-tables.ts')
  return work(archiveTables(lines.value, options.version))
}
