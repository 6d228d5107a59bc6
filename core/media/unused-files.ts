import type { Database, Transaction } from '../database/database.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'
import type { FileStorage, StoredEntry } from './storage/file-storage.ts'

/** Milliseconds. Bytes are stored before their record: those of an upload that runs have none yet, and no upload takes a day. */
const MIN_AGE = 86_400_000

/** Keys that Plinth gives: a name, ten random hexadecimal digits, an extension. Others may belong to other programs. */
const OWN_KEY = /_[0-9a-f]{10}(?:\.[A-Za-z0-9]{1,20})?$/

/** Files that are compared with all records at once. */
const BATCH = 10_000

/** Files that are removed in one transaction, while no record is written. */
const REMOVED_AT_ONCE = 100

interface UnusedFilesOptions {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
  readonly files: FileStorage & Required<Pick<FileStorage, 'list'>>
}

/** The stored files that no record names, and that are older than a day. */
export async function findUnusedFiles(options: UnusedFilesOptions): Promise<readonly StoredEntry[]> {
  const { database, files } = options
  const unused: StoredEntry[] = []
  let batch: StoredEntry[] = []
  const compare = async () => {
    unused.push(...(await withoutRecord(batch, database, options)))
    batch = []
  }
  for await (const entry of files.list()) {
    if (!OWN_KEY.test(entry.key) || !(Date.now() - entry.storedAt > MIN_AGE)) continue
    if (batch.push(entry) >= BATCH) await compare()
  }
  await compare()
  return unused
}

/** An import that is not finished may need files that are stored already. */
export class ImportRuns extends Error {
  override readonly name = 'ImportRuns'
}

/**
 * Removes those of the files that no record names now. Whatever may give one of them a record waits meanwhile: replacements, which
 * write their record before they store bytes, and content/ and imports, which use files that are there. Returns their number.
 */
export async function removeUnusedFiles(
  unused: readonly StoredEntry[],
  options: UnusedFilesOptions,
): Promise<number> {
  const { database, model, storage, files } = options
  const table = ident(storage.table(model.builtIn.file).name)
  let removed = 0
  for (let start = 0; start < unused.length; start += REMOVED_AT_ONCE)
    removed += await database.transaction(async transaction => {
      await transaction.lock('plinth content')
      await transaction.lock('plinth import')
      await refuseDuringImport(transaction)
      await transaction.run({
        name: 'keep the records of files',
        text: `LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`,
        values: [],
      })
      const entries = unused.slice(start, start + REMOVED_AT_ONCE)
      const gone = await withoutRecord(entries, transaction, options)
      for (const { key } of gone) await files.remove(key)
      return gone.length
    })
  return removed
}

async function refuseDuringImport(transaction: Transaction): Promise<void> {
  const { rows } = await transaction.run({
    name: 'find unfinished imports',
    text: 'SELECT 1 FROM "plinth_imports" LIMIT 1',
    values: [],
  })
  if (rows.length > 0) throw new ImportRuns('an import is not finished')
}

async function withoutRecord(
  entries: readonly StoredEntry[],
  runner: Pick<Transaction, 'run'> | Pick<Database, 'run'>,
  { model, storage }: UnusedFilesOptions,
): Promise<readonly StoredEntry[]> {
  if (entries.length === 0) return []
  const type = model.builtIn.file
  const column = (attribute: string): string => `f.${ident(storage.column(type, attribute))}`
  const formats = column('formats')
  const table = `${ident(storage.table(type).name)} AS f`
  const { rows } = await runner.run({
    name: 'find files without a record',
    text: `WITH used (key) AS (
  SELECT ${column('hash')} || coalesce(${column('ext')}, '') FROM ${table}
  UNION ALL SELECT (v.value ->> 'hash') || coalesce(v.value ->> 'ext', '') FROM ${table},
    jsonb_each(CASE WHEN jsonb_typeof(${formats}) = 'object' THEN ${formats} ELSE '{}' END) AS v
) SELECT key FROM unnest($1::text[]) AS stored (key) WHERE NOT EXISTS (SELECT FROM used WHERE used.key = stored.key)`,
    values: [entries.map(({ key }) => key)],
  })
  const keys = new Set(rows.map(([key]) => key))
  return entries.filter(({ key }) => keys.has(key))
}
