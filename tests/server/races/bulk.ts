import { join } from 'node:path'
import { type Blueprint, compileApp } from '../../../core/app/compile-app.ts'
import type { Result } from '../../../core/base/result.ts'
import { loadContent } from '../../../core/content/load-content.ts'
import { writeContent } from '../../../core/content/write-content.ts'
import { openDatabase } from '../../../core/database/open-database.ts'
import { prepareTransfer } from '../../../tools/cli/transfer-project.ts'
import { describe } from '../../../tools/transfer/describe.ts'
import { importDocuments } from '../../../tools/transfer/import/import-documents.ts'
import type { StreamedDocument } from '../../../tools/transfer/stream.ts'
import { DATABASE_SETTINGS } from '../../harness/database-settings.ts'
import { type Folder, temporaryFolder } from '../../harness/folder.ts'
import type { Test } from '../own-process.ts'

/** Writes of many documents at once. Each answers whether it was done, and rejects where it failed. */
export interface Bulk {
  /** `plinth import --on-conflict update` of these lines. `types`: the uids that the header names. */
  import(types: readonly string[], documents: readonly StreamedDocument[]): Promise<boolean>
  /** The import of content/ at a start. `files`: by the plural of their type. */
  apply(files: Readonly<Record<string, unknown>>): Promise<boolean>
}

export async function openBulk(t: Test, project: object, url: string): Promise<Bulk> {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  folder.write('project.yaml', JSON.stringify(project))
  const blueprint = passed(await compileApp(folder.path, {}))
  const options = { root: folder.path, observe: () => {} }
  const database = passed(await openDatabase({ ...DATABASE_SETTINGS, url }, options))
  t.teardown(() => database.close())
  const prepared = passed(await prepareTransfer(blueprint, database, { events: false, dryRun: false }))
  return {
    import: (types, documents) => importAll({ blueprint, options: prepared }, types, documents),
    apply: files => applyAll({ blueprint, options: prepared }, files),
  }
}

interface Opened {
  readonly blueprint: Blueprint
  readonly options: Prepared
}

type Prepared = Extract<Awaited<ReturnType<typeof prepareTransfer>>, { ok: true }>['value']

async function importAll(
  { blueprint, options }: Opened,
  types: readonly string[],
  documents: readonly StreamedDocument[],
): Promise<boolean> {
  const named = [...blueprint.model.contentTypes.values()].filter(({ uid }) => types.includes(uid))
  const lines = [describe({ ...blueprint, types: named, passwords: false }), ...documents]
  return within(async folder => {
    folder.write('lines.ndjson', `${lines.map(line => JSON.stringify(line)).join('\n')}\n`)
    const quiet = { skipsInvalid: false, filesFolder: null, progress: () => {} }
    const done = await importDocuments(
      join(folder.path, 'lines.ndjson'),
      { ...options, ...quiet, onConflict: 'update' },
      { dryRun: false },
    )
    return done.ok
  })
}

async function applyAll(
  { blueprint, options }: Opened,
  files: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  return within(async folder => {
    for (const [name, value] of Object.entries(files))
      folder.write(`content/${name}.yaml`, JSON.stringify(value))
    const { project, model } = blueprint
    const content = passed(await loadContent({ ...project, root: folder.path }, model, {}))
    return (await writeContent(content, { ...options, beforeUsers: async () => {} })).ok
  })
}

async function within<Value>(work: (folder: Folder) => Promise<Value>): Promise<Value> {
  const folder = temporaryFolder()
  try {
    return await work(folder)
  } finally {
    folder.remove()
  }
}

function passed<Value>(result: Result<Value, unknown>): Value {
  if (result.ok) return result.value
  throw new Error(JSON.stringify(result.reasons))
}
