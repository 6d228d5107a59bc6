import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { printReason } from '../../core/app/start-fault.ts'
import type { Database } from '../../core/database/database.ts'
import { openLocalStorage } from '../../core/media/storage/open-storage.ts'
import { pickTypes, prepareTransfer } from '../../tools/cli/transfer-project.ts'
import { copyFiles, exportDocuments } from '../../tools/transfer/export-documents.ts'
import { type ImportReport, importDocuments } from '../../tools/transfer/import/import-documents.ts'
import type { OnConflict, Progress } from '../../tools/transfer/import/import-options.ts'
import { printLineFault } from '../../tools/transfer/stream-fault.ts'
import { type Folder, temporaryFolder } from '../harness/folder.ts'

/** A project's folder and the database that it is used with. */
export interface Place {
  readonly folder: string
  readonly database: Database
}

interface ExportOptions {
  readonly types?: readonly string[]
  readonly passwords?: boolean
  /** Takes the bytes of files. */
  readonly files?: string
}

/** The lines that an export of the project comes to. */
export async function exported(
  { folder, database }: Place,
  { types = [], passwords = false, files }: ExportOptions = {},
): Promise<readonly string[]> {
  const blueprint = await compiled(folder)
  const picked = pickTypes(types, blueprint.model)
  if (!picked.ok) throw new Error(picked.reasons.join('\n'))
  const storage = openLocalStorage(folder)
  return exportDocuments(database, { ...blueprint, types: picked.value, passwords }, async ({ pieces }) => {
    let text = ''
    for await (const piece of pieces) {
      text += piece.text
      if (files !== undefined) await copyFiles(piece.files, storage, files)
    }
    return text.trimEnd().split('\n')
  })
}

interface ImportOptions {
  readonly onConflict?: OnConflict
  readonly dryRun?: boolean
  readonly events?: boolean
  readonly files?: string
  readonly skipsInvalid?: boolean
  readonly progress?: (progress: Progress) => void
}

/** The result of an import of the lines: the number of documents, or the printed faults. */
export async function imported(
  { folder, database }: Place,
  lines: readonly string[],
  {
    onConflict = 'skip',
    dryRun = false,
    events = false,
    files,
    skipsInvalid = false,
    progress = () => {},
  }: ImportOptions = {},
): Promise<ImportReport | readonly string[]> {
  const prepared = await prepareTransfer(await compiled(folder), database, { events, dryRun })
  if (!prepared.ok) return prepared.reasons.map(printReason)
  const stream = temporaryFolder()
  stream.write('documents.ndjson', `${lines.join('\n')}\n`)
  const options = { ...prepared.value, onConflict, skipsInvalid, filesFolder: files ?? null, progress }
  try {
    const done = await importDocuments(join(stream.path, 'documents.ndjson'), options, { dryRun })
    if (done.ok) return done.value
    return done.reasons.map(fault =>
      fault.line === null ? fault.message : printLineFault(fault, 'documents.ndjson'),
    )
  } finally {
    stream.remove()
  }
}

async function compiled(folder: string) {
  const blueprint = await compileApp(folder, {})
  if (!blueprint.ok) throw new Error(blueprint.reasons.map(({ message }) => message).join('\n'))
  return blueprint.value
}

/** Another folder with the same project and nothing else. */
export function projectFolder(t: ExecutionContext, yaml: string): Folder {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  folder.write('project.yaml', yaml)
  return folder
}
