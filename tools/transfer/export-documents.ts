import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { makeFolder } from '../../core/base/make-folder.ts'
import type { Database } from '../../core/database/database.ts'
import type { WriteOptions } from '../../core/documents/rows/write-options.ts'
import { filesOf, type KeyedFile } from '../../core/import/stored-files.ts'
import { importWriteOptions } from '../../core/import/write-batch.ts'
import type { FileStorage } from '../../core/media/storage/file-storage.ts'
import type { ContentType, Model } from '../../core/model/model.ts'
import type { Storage } from '../../core/model/storage.ts'
import type { Project } from '../../core/project/project.ts'
import { describe } from './describe.ts'
import {
  countDocuments,
  type DocumentBatch,
  readDocuments,
  readNames,
  type Targets,
} from './read-documents.ts'
import type { StreamOptions } from './to-streamed-document.ts'
import { addLinkTargets, readDocument, toStreamedDocument } from './to-streamed-document.ts'

export interface ExportOptions {
  readonly project: Project
  readonly model: Model
  readonly storage: Storage
  readonly types: readonly ContentType[]
  readonly passwords: boolean
}

/** A chunk of a stream. */
export interface Piece {
  /** Complete lines, including line breaks. */
  readonly text: string
  /** The number of documents in it. */
  readonly documents: number
  /** The files whose records are in it. */
  readonly files: readonly KeyedFile[]
}

export interface Exporting {
  /** The total number of documents. */
  readonly total: number
  readonly pieces: AsyncIterable<Piece>
}

/** The statement timeout in milliseconds; 0: none, because an export may take long. */
const STATEMENT_TIMEOUT = 0

/** Reads the documents of some types from one snapshot, in chunks. `work` consumes them inside the read transaction. */
export function exportDocuments<Value>(
  database: Database,
  options: ExportOptions,
  work: (exporting: Exporting) => Promise<Value>,
): Promise<Value> {
  return database.transaction(
    async transaction => {
      const reading = importWriteOptions(transaction, { ...options, database }, new Date(0).toISOString())
      await transaction.run(NO_IDLE_TIMEOUT)
      let total = 0
      for (const type of options.types) total += await countDocuments(type, reading)
      return work({ total, pieces: piecesOf(options, reading) })
    },
    { isolation: 'repeatable read', readonly: true, statementTimeout: STATEMENT_TIMEOUT },
  )
}

/** The consumer of the stream may be slow. */
const NO_IDLE_TIMEOUT = {
  name: 'wait for the reader of the export',
  text: `SELECT set_config('idle_in_transaction_session_timeout', '0', true)`,
  values: [],
}

async function* piecesOf(options: ExportOptions, reading: WriteOptions): AsyncGenerator<Piece> {
  yield { text: `${JSON.stringify(describe(options))}\n`, documents: 0, files: [] }
  for (const type of options.types)
    for await (const batch of readDocuments(type, reading)) yield toPiece(type, batch, options, reading)
}

async function toPiece(
  type: ContentType,
  { documents, current }: DocumentBatch,
  { model, passwords, project }: ExportOptions,
  options: WriteOptions,
): Promise<Piece> {
  const locales = model.locales.map(({ code }) => code)
  const read = documents.map(document => readDocument(document, { type, current, options, locales }))
  const targets: Targets = new Map()
  for (const document of read) addLinkTargets(document, targets)
  const streaming: StreamOptions = { passwords, nameOf: await readNames(targets, options) }
  const lines = read.map(document => `${JSON.stringify(toStreamedDocument(document, streaming))}\n`)
  const { provider } = project.settings.upload
  const files =
    type === model.builtIn.file
      ? read.flatMap(({ versions }) => versions.flatMap(({ values }) => filesOf(values, provider)))
      : []
  return { text: lines.join(''), documents: read.length, files }
}

/** Copies file contents, named by key; skips existing ones, because a key contains a hash. Returns the keys that the storage does not have. */
export async function copyFiles(
  files: readonly KeyedFile[],
  storage: FileStorage,
  folder: string,
): Promise<readonly string[]> {
  await makeFolder(folder)
  const lost: string[] = []
  for (const { key } of files) {
    const path = join(folder, key)
    if (existsSync(path)) continue
    const bytes = await storage.read(key)
    if (bytes === null) lost.push(key)
    else await copy(bytes, path)
  }
  return lost
}

/** Writes to a temporary file and renames it on completion. */
async function copy(bytes: NodeJS.ReadableStream, path: string): Promise<void> {
  const draft = `${path}.part`
  try {
    await pipeline(bytes, createWriteStream(draft))
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}
