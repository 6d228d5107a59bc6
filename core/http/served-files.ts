import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Express, Request, Response } from 'express'
import { fault, notFound, RequestFault } from '../faults/fault.ts'
import { type FileStorage, isStorageKey, type ServedFiles } from '../media/storage/file-storage.ts'
import type { SignedPaths } from '../media/storage/signed-paths.ts'
import type { AnyOptions } from '../plugins/document-types.ts'
import type { DocumentActions } from '../plugins/services/documents-api.ts'
import { refuseWrites, setSafeHeaders } from './express-fallback.ts'

/** Rejects with a RequestFault for credentials that are refused. */
export type MayReadFile = (key: string, authorization: string | undefined) => Promise<boolean>

/** Seconds that the address of a private file works after a redirect. */
const REDIRECT_LIFETIME = 60

interface FileAccess {
  readonly mayRead: MayReadFile
  /** Opens private files without credentials. */
  readonly paths: Pick<SignedPaths, 'isSigned'>
}

/** Serves `/uploads/KEY` from a storage that has no public address. Missing files are left to the next handler. */
export function mountServedFiles(
  app: Express,
  files: ServedFiles & { readonly signedUrl?: FileStorage['signedUrl'] | undefined },
  { mayRead, paths }: FileAccess,
): void {
  app.use('/uploads', refuseWrites)
  app.get('/uploads/:key', async (request, response, next) => {
    const key = String(request.params.key)
    if (!isStorageKey(key)) return next()
    if (files.isPrivate) {
      const isReadable =
        paths.isSigned(key, request.query) || (await mayRead(key, request.headers.authorization))
      if (!isReadable) throw new RequestFault(notFound())
      response.setHeader('Cache-Control', 'private, no-store')
    }
    if (files.signedUrl) return response.redirect(302, await files.signedUrl(key, REDIRECT_LIFETIME))
    const found = await files.stat(key)
    if (isOver(response)) return
    return found === null ? next() : sendFile({ key, size: found.size }, files, { request, response })
  })
}

interface FoundFile {
  readonly key: string
  /** Bytes. */
  readonly size: number
}

interface Exchange {
  readonly request: Request
  readonly response: Response
}

async function sendFile(
  { key, size }: FoundFile,
  files: ServedFiles,
  { request, response }: Exchange,
): Promise<void> {
  const range = readRange({ request, response }, size)
  const length = range ? range.end - range.start + 1 : size
  const stream = request.method === 'HEAD' || length === 0 ? null : await files.read(key, range)
  if (isOver(response)) {
    stream?.destroy()
    return
  }
  if (request.method !== 'HEAD' && length > 0 && stream === null) throw new RequestFault(notFound())
  response.type(extname(key) || 'application/octet-stream')
  setSafeHeaders(response, key)
  response.setHeader('Accept-Ranges', 'bytes')
  response.setHeader('Content-Length', length)
  if (range) response.status(206).setHeader('Content-Range', `bytes ${range.start}-${range.end}/${size}`)
  if (stream === null) response.end()
  else await sendStream(stream, length, response)
}

/** While the storage was asked, the request may have timed out, or its client gone: the bytes of the file would never be read. */
const isOver = (response: Response): boolean => response.headersSent || response.destroyed

/** A stream that ends early or late breaks the connection: a client must not take a part for the file. */
async function sendStream(stream: Readable, length: number, response: Response): Promise<void> {
  let sent = 0
  const count = async function* (source: AsyncIterable<Buffer>) {
    for await (const part of source) {
      sent += part.length
      if (sent > length) throw new Error(`the storage gave more than ${length} bytes`)
      yield part
    }
    if (sent < length) throw new Error(`the storage gave ${sent} of ${length} bytes`)
  }
  try {
    await pipeline(stream, count, response)
  } catch (error) {
    // The reader went away.
    if (response.destroyed && response.errored === null && sent <= length && !response.writableEnded) return
    throw error
  }
}

/** One range, as Express parses it; undefined: the whole file. Throws 416 for a range beyond the file, with its size (RFC 9110, 15.5.17). */
function readRange(
  { request, response }: Exchange,
  size: number,
): { start: number; end: number } | undefined {
  const ranges = request.headers['if-range'] === undefined ? request.range(size) : undefined
  if (ranges === -1) {
    const message = `The file has ${size} bytes`
    response.setHeader('Content-Range', `bytes */${size}`)
    throw new RequestFault(fault('rangeNotSatisfiable', message, { size }))
  }
  if (!Array.isArray(ranges) || ranges.type !== 'bytes' || ranges.length !== 1) return undefined
  const [{ start, end } = { start: 0, end: size - 1 }] = ranges
  return { start, end }
}

const FORMAT_PREFIX = /^(?:thumbnail|small|medium|large)_/

/** True if the caller may find the record of a file, or of the picture that it is a smaller version of. */
export async function isReadableFile(key: string, files: DocumentActions<AnyOptions>): Promise<boolean> {
  const ext = extname(key)
  const hash = ext === '' ? key : key.slice(0, -ext.length)
  const hashes = [...new Set([hash, hash.replace(FORMAT_PREFIX, '')])]
  const filters = { hash: { $in: hashes }, ...(ext !== '' && { ext: { $eq: ext } }) }
  const count = await files.count({ filters }).catch((error: unknown) => {
    // Missing permissions look like a missing file.
    if (error instanceof RequestFault && error.status < 500) return 0
    throw error
  })
  return count > 0
}
