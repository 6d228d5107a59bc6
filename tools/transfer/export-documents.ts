import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Database } from '../../core/database/database.ts'
import type { WriteTerms } from '../../core/documents/rows/write-terms.ts'
import type { FileStorage } from '../../core/media/storage/file-storage.ts'
import type { ContentType, Model } from '../../core/model/model.ts'
import type { Storage } from '../../core/model/storage.ts'
import type { Project } from '../../core/project/project.ts'
import { describe } from './describe.ts'
import { filesOf, type KeyedFile } from './import/import-files.ts'
import { writeTermsOf } from './import/import-terms.ts'
import { readNames, type Targets } from './import/link-names.ts'
import { type Batch, countDocuments, readDocuments } from './read-documents.ts'
import { readDocument, targetsOf, toStreamedDocument } from './to-streamed-document.ts'
import type { StreamTerms } from './to-streamed-values.ts'

export interface ExportTerms {
  readonly project: Project
  readonly model: Model
  readonly storage: Storage
  readonly types: readonly ContentType[]
  readonly passwords: boolean
}

/** Part of a stream. */
export interface Piece {
  /** Whole lines, with their ends. */
  readonly text: string
  /** How many documents they are. */
  readonly documents: number
  /** Those whose records are among them. */
  readonly files: readonly KeyedFile[]
}

export interface Exporting {
  /** How many documents there are to come. */
  readonly total: number
  readonly pieces: AsyncIterable<Piece>
}

/** Milliseconds a statement may take: an export reads for as long as it takes. */
const STATEMENT_TIMEOUT = 0

/** The documents of some types as they stood at one moment, piece by piece. `work` takes them, in the transaction that reads them. */
export function exportDocuments<Value>(
  database: Database,
  terms: ExportTerms,
  work: (exporting: Exporting) => Promise<Value>,
): Promise<Value> {
  return database.transaction(
    async transaction => {
      const reading = writeTermsOf(transaction, { ...terms, database }, new Date(0).toISOString())
      await transaction.run(PATIENT)
      let total = 0
      for (const type of terms.types) total += await countDocuments(type, reading)
      return work({ total, pieces: piecesOf(terms, reading) })
    },
    { isolation: 'repeatable read', readonly: true, statementTimeout: STATEMENT_TIMEOUT },
  )
}

/** Whoever takes the stream may be slow. */
const PATIENT = {
  name: 'wait for whoever reads the export',
  text: `SELECT set_config('idle_in_transaction_session_timeout', '0', true)`,
  values: [],
}

async function* piecesOf(terms: ExportTerms, reading: WriteTerms): AsyncGenerator<Piece> {
  yield { text: `${JSON.stringify(describe(terms))}\n`, documents: 0, files: [] }
  for (const type of terms.types)
    for await (const batch of readDocuments(type, reading)) yield toPiece(type, batch, terms, reading)
}

async function toPiece(
  type: ContentType,
  { documents, current }: Batch,
  { model, passwords }: ExportTerms,
  terms: WriteTerms,
): Promise<Piece> {
  const locales = model.locales.map(({ code }) => code)
  const read = documents.map(document => readDocument(document, { type, current, terms, locales }))
  const targets: Targets = new Map()
  for (const document of read) targetsOf(document, targets)
  const streaming: StreamTerms = { passwords, nameOf: await readNames(targets, terms) }
  const lines = read.map(document => `${JSON.stringify(toStreamedDocument(document, streaming))}\n`)
  const files =
    type === model.builtIn.file
      ? read.flatMap(({ versions }) => versions.flatMap(({ values }) => filesOf(values)))
      : []
  return { text: lines.join(''), documents: read.length, files }
}

/** Copies of the bytes of files, named by their keys: what is there already is the same. Answers the keys of which the storage has nothing. */
export async function copyFiles(
  files: readonly KeyedFile[],
  storage: FileStorage,
  folder: string,
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true })
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

/** A file appears under its name only when it is whole. */
async function copy(bytes: NodeJS.ReadableStream, path: string): Promise<void> {
  const draft = `${path}.part`
  try {
    await pipeline(bytes, createWriteStream(draft))
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}
