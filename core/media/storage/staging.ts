import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { detectMime } from '../detect-mime.ts'

/** A file that has arrived whole and is not kept yet. */
export interface StagedFile {
  readonly path: string
  /** Bytes. */
  readonly size: number
  /** The first 256 KiB: enough to tell what it is, and how large a picture. */
  readonly head: Buffer
  /** The media type that these bytes tell; null where they tell none. */
  readonly detected: string | null
}

/** Where files wait: beside the uploads, never served. */
export const stagingFolder = (root: string): string => join(root, '.plinth', 'staging')

export const stagingPath = (folder: string): string => join(folder, randomBytes(12).toString('hex'))

const HEAD = 262_144

/** Writes a stream to a file of its own, a piece at a time. Rejects, and leaves nothing, where the stream breaks off. */
export async function stage(stream: Readable, folder: string): Promise<StagedFile> {
  const path = stagingPath(folder)
  const head: Buffer[] = []
  let size = 0
  const look = async function* (source: AsyncIterable<Buffer>) {
    for await (const part of source) {
      if (size < HEAD) head.push(part)
      size += part.length
      yield part
    }
  }
  await mkdir(folder, { recursive: true })
  const file = createWriteStream(path, { flags: 'wx' })
  const closed = new Promise<void>(resolve => file.once('close', () => resolve()))
  try {
    await pipeline(stream, look, file)
  } catch (error) {
    // A file that was still being opened when its stream broke off is made after all: only then can it be removed.
    file.destroy()
    await closed
    await discard([path])
    throw error
  }
  const first = Buffer.concat(head).subarray(0, HEAD)
  return { path, size, head: first, detected: await detectMime(first) }
}

/** The same bytes under a path of their own, so that either may go first. */
export async function stageAgain(staged: StagedFile, folder: string): Promise<StagedFile> {
  const path = stagingPath(folder)
  await link(staged.path, path)
  return { ...staged, path }
}

export async function discard(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { force: true })
}

/** Milliseconds: no upload takes a day. */
const ABANDONED = 86_400_000

/** Removes what processes that were killed have left. */
export async function sweep(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const found = await stat(path).catch(() => null)
    if (found && Date.now() - found.mtimeMs > ABANDONED) await discard([path])
  }
}
