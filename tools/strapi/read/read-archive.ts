import { createDecipheriv, scryptSync } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { PassThrough, type Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Parser, type ReadEntry } from 'tar'
import { isDiskOutage } from '../../../core/base/disk-errors.ts'
import { makeFolder } from '../../../core/base/make-folder.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import { isStorageKey } from '../../../core/media/storage/file-storage.ts'
import { isRecord } from '../../../core/query/parse-place.ts'

/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The lines of an archive that `strapi export` wrote, by kind. */
export interface ArchiveLines {
  readonly schemas: readonly JsonObject[]
  readonly entities: readonly JsonObject[]
  readonly links: readonly JsonObject[]
  readonly configuration: readonly JsonObject[]
  /** Entries that are no files of `strapi export`, such as links and paths out of the archive. They are not extracted. */
  readonly skipped: readonly string[]
}

export interface ArchiveOptions {
  /** `export.tar`, `.tar.gz`, `.tar.gz.enc`. */
  readonly archive: string
  /** The key of an encrypted archive. */
  readonly key: string | undefined
  /** The version of the project. */
  readonly version: 4 | 5
  /** The folder that uploaded files are extracted to. */
  readonly uploads: string
  readonly limits?: ArchiveLimits
}

/** What an archive may contain: a small compressed file can unpack to any size. */
export interface ArchiveLimits {
  readonly entries: number
  /** Bytes of one file of documents, which is read as one text. */
  readonly lines: number
  /** Bytes of all files of documents, which are held in memory. */
  readonly documents: number
  /** Bytes of all uploaded files. */
  readonly uploads: number
}

const GIB = 2 ** 30

/** `strapi export` begins a new file of documents at 256 MiB. */
export const ARCHIVE_LIMITS: ArchiveLimits = {
  entries: 2_000_000,
  lines: GIB / 2 - 2 ** 25,
  documents: 2 * GIB,
  uploads: 1_024 * GIB,
}

type Kind = Exclude<keyof ArchiveLines, 'skipped'>

const KINDS: readonly Kind[] = ['schemas', 'entities', 'links', 'configuration']

/** Reads an archive of `strapi export`, and extracts its files. Fails with the reason. */
export async function readArchive({
  archive,
  key,
  version,
  uploads,
  limits = ARCHIVE_LIMITS,
}: ArchiveOptions): Promise<Result<ArchiveLines, string>> {
  const isEncrypted = archive.endsWith('.enc')
  if (isEncrypted && key === undefined) return failed(`${archive} is encrypted: give its key with --key`)
  const madeFolder = await makeFolder(uploads)
  const found: Found = {
    lines: { schemas: [], entities: [], links: [], configuration: [] },
    skipped: [],
    version: undefined,
    size: { entries: 0, documents: 0, uploads: 0 },
    limits,
  }
  const writing: Promise<unknown>[] = []
  const unfinished = new Set<ReadEntry>()
  const parser = new Parser({
    strict: true,
    onReadEntry: entry => {
      unfinished.add(entry)
      const reading = readEntry(entry, found, uploads).finally(() => unfinished.delete(entry))
      reading.catch((error: Error) => sink.destroy(error))
      writing.push(reading)
    },
  })
  const sink = toParser(parser)
  try {
    await pipeline(createReadStream(archive), isEncrypted ? decipher(key ?? '') : new PassThrough(), sink)
    await Promise.all(writing)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    // The parser never ends the entry that a truncated archive breaks off.
    for (const entry of unfinished) if (!entry.emittedEnd) entry.destroy(error)
    await Promise.allSettled(writing)
    if (madeFolder !== undefined) await rm(madeFolder, { recursive: true, force: true })
    if (isDiskOutage(error))
      return failed(`The files of ${archive} could not be extracted to ${uploads}: ${error.message}`)
    return failed(reasonOf(error, archive, isEncrypted))
  }
  const { lines, skipped } = found
  const exported = found.version
  if (exported !== undefined && !exported.startsWith(`${version}.`))
    return failed(
      `${archive} was exported by Strapi ${exported}, but the project is one of Strapi ${version}: export it with the version of the project`,
    )
  if (lines.schemas.length > 0) return ok({ ...lines, skipped })
  return failed(`${archive} is not an archive of \`strapi export\`: it has no schemas`)
}

/** What the entries of an archive contain. */
interface Found {
  readonly lines: Record<Kind, JsonObject[]>
  readonly skipped: string[]
  /** Of the Strapi that exported it: `5.54.0`. */
  version: string | undefined
  readonly size: Record<'entries' | 'documents' | 'uploads', number>
  readonly limits: ArchiveLimits
}

/** The cipher of `strapi export --encrypt`. */
const decipher = (key: string): Transform => createDecipheriv('aes-128-ecb', scryptSync(key, '', 16), null)

/** The parser is a stream of its library; its errors must end the pipeline. */
function toParser(parser: Parser): Writable {
  return new Writable({
    construct(callback) {
      parser.on('error', (error: Error) => this.destroy(error))
      callback()
    },
    write(chunk: Buffer, _encoding, callback) {
      if (parser.write(chunk)) callback()
      else parser.once('drain', callback)
    },
    final(callback) {
      parser.once('end', () => callback())
      parser.end()
    },
  })
}

function reasonOf(error: Error, archive: string, isEncrypted: boolean): string {
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return `--archive: there is no file ${archive}`
  if (isEncrypted && (code.startsWith('ERR_OSSL') || code.startsWith('TAR_') || code.startsWith('Z_')))
    return `${archive} could not be decrypted: --key is not the key of this archive`
  return `${archive} could not be read: ${error.message}`
}

/** `entities/entities_00001.jsonl`, `assets/uploads/blue.png`. */
async function readEntry(entry: ReadEntry, found: Found, uploads: string): Promise<void> {
  const path = entry.path.replaceAll('\\', '/')
  const isFile = entry.type === 'File' || entry.type === 'OldFile' || entry.type === 'ContiguousFile'
  const kind = KINDS.find(each => path.startsWith(`${each}/`) && path.endsWith('.jsonl'))
  const name = basename(path)
  count(entry, path, found)
  if (isFile && kind !== undefined) return readLines(entry, found.lines[kind])
  if (isFile && path === `assets/uploads/${name}` && isStorageKey(name))
    return extract(entry, join(uploads, name))
  if (isFile && path === 'metadata.json') {
    const metadata: unknown = parseJsonLine((await readBytes(entry)).toString('utf8'), path)
    if (isRecord(metadata) && isRecord(metadata.strapi)) found.version = String(metadata.strapi.version)
    return
  }
  // Strapi describes each file of assets/uploads/ in assets/metadata/ as well.
  if (entry.type !== 'Directory' && !path.startsWith('assets/metadata/')) found.skipped.push(entry.path)
  entry.resume()
}

/** Sizes are in the headers, so an entry beyond a limit is refused before it is read. */
function count({ size: bytes }: ReadEntry, path: string, { size, limits }: Found): void {
  const isUpload = path.startsWith('assets/uploads/')
  size.entries++
  size[isUpload ? 'uploads' : 'documents'] += bytes
  const over = (what: string, limit: number): Error =>
    new Error(`${what} (at ${path}); an import reads at most ${limit.toLocaleString('en-US')}`)
  if (size.entries > limits.entries) throw over('it has too many entries', limits.entries)
  if (!isUpload && bytes > limits.lines) throw over('an entry has too many bytes', limits.lines)
  if (size.documents > limits.documents) throw over('its documents have too many bytes', limits.documents)
  if (size.uploads > limits.uploads) throw over('its uploads have too many bytes', limits.uploads)
}

async function readBytes(entry: ReadEntry): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of entry) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function readLines(entry: ReadEntry, lines: JsonObject[]): Promise<void> {
  const texts = (await readBytes(entry)).toString('utf8').split('\n')
  for (const [index, text] of texts.entries()) {
    const value = text === '' ? null : parseJsonLine(text, `${entry.path}:${index + 1}`)
    if (isRecord(value)) lines.push(value)
  }
}

function parseJsonLine(text: string, place: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${place}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function extract(entry: ReadEntry, path: string): Promise<void> {
  await pipeline(entry as unknown as NodeJS.ReadableStream, createWriteStream(path))
}
