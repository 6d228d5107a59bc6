import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ByteParts } from '../../base/byte-parts.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import { type DetectedFile, detectMime, isBinary } from '../file-type.ts'
import { filePictureSize, type PictureSize } from '../picture-size.ts'

/** A completely received file that is not stored yet. */
export interface StagedFile extends DetectedFile {
  readonly path: string
  /** Bytes. */
  readonly size: number
  /** undefined: no picture by its bytes, or one without a readable size. */
  readonly picture: PictureSize | undefined
}

/** Staging folder. It is next to the uploads, and never served. */
export const stagingFolder = (root: string): string => join(root, '.plinth', 'staging')

export const stagingPath = (folder: string): string => join(folder, randomBytes(12).toString('hex'))

/** Bytes that are enough to detect the type. They are not kept: a form has a hundred files. */
const HEAD_LENGTH = 262_144

interface StagingOptions {
  readonly folder: string
  /** Maximum size of the file in bytes. */
  readonly sizeLimit: number
}

/**
 * Writes a stream to a new file, chunk by chunk. Rejects and leaves no file if the stream breaks off, and with a
 * RequestFault if it is too long.
 */
export async function stage(stream: Readable, { folder, sizeLimit }: StagingOptions): Promise<StagedFile> {
  const path = stagingPath(folder)
  const head = new ByteParts()
  let size = 0
  const look = async function* (source: AsyncIterable<Buffer>) {
    for await (const part of source) {
      if (size < HEAD_LENGTH) head.add(part)
      size += part.length
      if (size > sizeLimit) throw fileTooLarge(sizeLimit)
      yield part
    }
  }
  await mkdir(folder, { recursive: true })
  const file = createWriteStream(path, { flags: 'wx' })
  const closed = new Promise<void>(resolve => file.once('close', () => resolve()))
  try {
    await pipeline(stream, look, file)
  } catch (error) {
    // A pending open() still creates the file after the stream broke off: wait for it, then remove the file.
    file.destroy()
    await closed
    await discardFiles([path])
    throw error
  }
  const first = head.toBuffer().subarray(0, HEAD_LENGTH)
  const detected = await detectMime(first)
  const picture = detected === null ? undefined : await filePictureSize(path, first, detected)
  return { path, size, isBinary: isBinary(first), detected, picture }
}

const fileTooLarge = (limit: number): RequestFault =>
  new RequestFault(fault('payloadTooLarge', `A file may have at most ${limit} bytes`))

/** Links the same bytes under a second path, so that each can be removed independently. */
export async function duplicateStaged(staged: StagedFile, folder: string): Promise<StagedFile> {
  const path = stagingPath(folder)
  await link(staged.path, path)
  return { ...staged, path }
}

export async function discardFiles(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { force: true })
}

/** Milliseconds: no upload takes a day, so older files are abandoned. */
const MAX_AGE = 86_400_000

/** Removes old files with such names, left by processes that were killed. */
export async function removeAbandoned(folder: string, names = /^/): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const name of await readdir(folder)) {
    if (!names.test(name)) continue
    const path = join(folder, name)
    const found = await stat(path).catch(() => null)
    if (found && Date.now() - found.mtimeMs > MAX_AGE) await discardFiles([path])
  }
}
