import { createHash } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { basename, extname, join, sep } from 'node:path'
import { documentIdOf } from '../documents/rows/document-id.ts'
import { type FileRecord, toHash, toKilobytes } from '../media/file-record.ts'
import { DETECTION_LENGTH, detectMime, isBinary, projectFileMime } from '../media/file-type.ts'
import { pictureSize } from '../media/picture-size.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'

/** A file of content/media/ as used by a document: its future record, and the path of its bytes. */
export interface MediaFile extends Omit<FileRecord, 'url' | 'provider' | 'formats' | 'focalPoint'> {
  /** Absolute path of the bytes. */
  readonly path: string
}

export interface MediaReference {
  /** Relative to content/media/. */
  readonly file: string
  readonly name: string | null
  readonly alternativeText: string | null
  readonly caption: string | null
}

/** Root of the project, and the detected types of its files in content/media/ by real path. */
export interface MediaFolder {
  readonly root: string
  readonly types: MediaTypes
}

/**
 * Reads a file of content/media/; undefined if it does not exist. Uses with the same bytes and the same descriptions share
 * one record. Synchronous, since it only runs at start.
 */
export function readMediaFile({ root, types }: MediaFolder, use: MediaReference): MediaFile | undefined {
  const path = pathInside(join(root, 'content', 'media'), use.file)
  const bytes = path === undefined ? undefined : readIfThere(path)
  if (path === undefined || bytes === undefined) return undefined
  const ext = extname(path)
  const name = use.name ?? basename(path)
  const { alternativeText, caption } = use
  const file = { isBinary: isBinary(bytes.subarray(0, 1024)), detected: types.get(path) ?? null }
  const mime = projectFileMime(file, path)
  const words = JSON.stringify([name, alternativeText, caption])
  const digest = createHash('sha256').update(words).update(bytes).digest('hex')
  return {
    documentId: documentIdOf('file', digest),
    path,
    name,
    alternativeText,
    caption,
    hash: toHash(basename(path, ext), digest.slice(0, 10)),
    ext,
    mime,
    size: toKilobytes(bytes.length),
    dimensions: pictureSize(bytes, mime),
  }
}

/** undefined for paths outside the folder, also through symbolic links. */
function pathInside(folder: string, file: string): string | undefined {
  if (file.includes('\0')) return undefined
  try {
    const path = realpathSync(join(folder, file))
    return path.startsWith(realpathSync(folder) + sep) ? path : undefined
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR', 'EISDIR'].includes(String(error.code))

export const mediaKey = ({ hash, ext }: MediaFile): string => `${hash}${ext}`

/** The record of a stored file. */
export const toMediaRecord = ({ path: _, ...file }: MediaFile, files: FileStorage): FileRecord => ({
  ...file,
  formats: null,
  focalPoint: null,
  url: files.url(`${file.hash}${file.ext}`),
  provider: files.provider,
})

/** Detected media types by real path; null if unknown. */
export type MediaTypes = ReadonlyMap<string, string | null>

/** Detects the media types of all files in content/media/. */
export async function detectMedia(root: string): Promise<MediaTypes> {
  const folder = await realpath(join(root, 'content', 'media')).catch((error: unknown) => {
    if (isAbsent(error)) return null
    throw error
  })
  const types = new Map<string, string | null>()
  if (folder === null) return types
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    types.set(path, await detectMime(await readHead(path)))
  }
  return types
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const head = Buffer.alloc(DETECTION_LENGTH)
    const { bytesRead } = await file.read(head, 0, DETECTION_LENGTH, 0)
    return head.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
