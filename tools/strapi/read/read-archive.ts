import { createDecipheriv, scryptSync } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { PassThrough, type Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Parser, type ReadEntry } from 'tar'
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
}

export interface ArchiveOptions {
  /** `export.tar`, `.tar.gz`, `.tar.gz.enc`. */
  readonly archive: string
  /** The key of an encrypted archive. */
  readonly key: string | undefined
  /** The folder that uploaded files are extracted to. */
  readonly uploads: string
}

type Kind = keyof ArchiveLines

const KINDS: readonly Kind[] = ['schemas', 'entities', 'links', 'configuration']

/** Reads an archive of `strapi export`, and extracts its files. Fails with the reason. */
export async function readArchive({
  archive,
  key,
  uploads,
}: ArchiveOptions): Promise<Result<ArchiveLines, string>> {
  const isEncrypted = archive.endsWith('.enc')
  if (isEncrypted && key === undefined) return failed(`${archive} is encrypted: give its key with --key`)
  const madeFolder = await mkdir(uploads, { recursive: true })
  const lines: Record<Kind, JsonObject[]> = { schemas: [], entities: [], links: [], configuration: [] }
  const writing: Promise<unknown>[] = []
  const unfinished = new Set<ReadEntry>()
  const parser = new Parser({
    strict: true,
    onReadEntry: entry => {
      unfinished.add(entry)
      const reading = readEntry(entry, lines, uploads).finally(() => unfinished.delete(entry))
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
    return failed(reasonOf(error, archive, isEncrypted))
  }
  if (lines.schemas.length > 0) return ok(lines)
  return failed(`${archive} is not an archive of \`strapi export\`: it has no schemas`)
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
async function readEntry(
  entry: ReadEntry,
  lines: Record<Kind, JsonObject[]>,
  uploads: string,
): Promise<void> {
  const path = entry.path.replaceAll('\\', '/')
  const kind = KINDS.find(each => path.startsWith(`${each}/`) && path.endsWith('.jsonl'))
  if (kind !== undefined) return readLines(entry, lines[kind])
  const name = basename(path)
  if (path === `assets/uploads/${name}` && isStorageKey(name)) return extract(entry, join(uploads, name))
  entry.resume()
}

async function readLines(entry: ReadEntry, lines: JsonObject[]): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of entry) chunks.push(chunk)
  const texts = Buffer.concat(chunks).toString('utf8').split('\n')
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
