import type { Site } from '../database/run-ddl.ts'
import type { Table } from '../model/storage.ts'
import { adopt } from './adopt-existing.ts'
import { compareFiles, pendingOf, readApplied } from './custom-migration-record.ts'
import type { Handwritten } from './custom-migrations.ts'
import { MigrationRefused } from './migration-refused.ts'
import { passOver, runHandwritten } from './run-custom-migrations.ts'
import type { Catalogue } from './schema/catalogue.ts'
import { readCatalogue } from './schema/read-catalogue.ts'

/** Files to run, each list in order. */
export interface ReadyFiles {
  readonly before: readonly Handwritten[]
  readonly after: readonly Handwritten[]
}

/** Runs the files that come before. Answers what is there then: what they made for the model counts as Plinth's. */
export async function runBefore(
  site: Site,
  { before }: ReadyFiles,
  { tables, manyRows }: Wanted,
): Promise<Catalogue> {
  const { database, transaction } = site
  const read = () => readCatalogue(transaction, database.schema, manyRows)
  if (before.length === 0) return read()
  const former = await read()
  await runHandwritten(site, before)
  return adopt(tables, former, await read())
}

interface Wanted {
  readonly tables: readonly Table[]
  readonly manyRows: number | undefined
}

/** The files that this database lacks. Rejects with a MigrationRefused where they do not agree with what was applied. */
export async function readyFiles(
  site: Site,
  files: readonly Handwritten[],
  isNew: boolean,
): Promise<ReadyFiles> {
  const { schema } = site.database
  const applied = await readApplied(site.transaction, schema)
  const against = [...compareFiles(schema, files, applied)]
  if (against.length > 0) throw new MigrationRefused(against)
  const pending = pendingOf(files, applied)
  const needed = isNew ? await passOver(site, pending) : pending
  const at = (moment: Handwritten['moment']) => needed.filter(file => file.moment === moment)
  return { before: at('before'), after: at('after') }
}
