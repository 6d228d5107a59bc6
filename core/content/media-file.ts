import { createHash } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import { basename, extname, join, sep } from 'node:path'
import { documentIdOf } from '../documents/rows/document-id.ts'
import type { FileRecord } from '../media/file-record.ts'
import { toHash, toKilobytes } from '../media/file-record.ts'
import { projectFileMime } from '../media/file-type.ts'
import { pictureSize } from '../media/pictures/picture-size.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import type { MediaTypes } from './detect-media.ts'

/** A file of content/media/ as a document uses it: the record that it gets, and where its bytes are. */
export interface MediaFile extends Omit<FileRecord, 'url' | 'provider' | 'formats' | 'focalPoint'> {
  /** Absolute; of the bytes. */
  readonly path: string
}

export interface MediaUse {
  /** From content/media/. */
  readonly file: string
  readonly name: string | null
  readonly alternativeText: string | null
  readonly caption: string | null
}

/** A project's content/media/, and the types that the bytes of its files tell, by their real paths. */
export interface MediaFolder {
  readonly root: string
  readonly types: MediaTypes
}

/**
 * Reads a file of content/media/; undefined where there is none. The same bytes under the same words are one file,
 * however often they are used; ones that go by other words are another. At start only, so it may wait for the disk.
 */
export function readMedia({ root, types }: MediaFolder, use: MediaUse): MediaFile | undefined {
  const path = pathInside(join(root, 'content', 'media'), use.file)
  const bytes = path === undefined ? undefined : readIfThere(path)
  if (path === undefined || bytes === undefined) return undefined
  const ext = extname(path)
  const name = use.name ?? basename(path)
  const { alternativeText, caption } = use
  const head = bytes.subarray(0, 1024)
  const mime = projectFileMime({ head, detected: types.get(path) ?? null }, path)
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

/** Links out of the folder count as outside. */
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

export const keyOf = ({ hash, ext }: MediaFile): string => `${hash}${ext}`

/** The record of a file once it is stored. */
export const toRecord = ({ path: _, ...file }: MediaFile, files: FileStorage): FileRecord => ({
  ...file,
  formats: null,
  focalPoint: null,
  url: files.url(`${file.hash}${file.ext}`),
  provider: files.provider,
})
