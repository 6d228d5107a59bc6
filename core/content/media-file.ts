import { createHash } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import { basename, extname, join, sep } from 'node:path'
import { documentIdOf } from '../documents/document-id.ts'
import type { WrittenDocument, WrittenValue } from '../documents/written.ts'
import type { ContentType } from '../model/model.ts'
import { type PictureSize, pictureSize } from './picture-size.ts'
import { sniffMime } from './sniff.ts'

/** A file of content/media/ as a document uses it: the record that it gets, and where its bytes are. */
export interface MediaFile {
  readonly documentId: string
  /** Absolute; of the bytes. */
  readonly path: string
  readonly name: string
  readonly alternativeText: string | null
  readonly caption: string | null
  /** contract/rest.md 15: the name with `_` for other characters, `_`, 10 hexadecimal digits. */
  readonly hash: string
  readonly ext: string
  readonly mime: string
  /** In kB with two decimals. */
  readonly size: string
  readonly dimensions: PictureSize | undefined
}

export interface MediaUse {
  /** From content/media/. */
  readonly file: string
  readonly name: string | null
  readonly alternativeText: string | null
  readonly caption: string | null
}

/**
 * Reads a file of content/media/; undefined where there is none. The same bytes under the same words are one file,
 * however often they are used; ones that go by other words are another. At start only, so it may wait for the disk.
 */
export function readMedia(root: string, use: MediaUse): MediaFile | undefined {
  const path = pathInside(join(root, 'content', 'media'), use.file)
  const bytes = path === undefined ? undefined : readIfThere(path)
  if (path === undefined || bytes === undefined) return undefined
  const ext = extname(path)
  const name = use.name ?? basename(path)
  const { alternativeText, caption } = use
  const mime = sniffMime(bytes.subarray(0, 1024), ext)
  const words = JSON.stringify([name, alternativeText, caption])
  const digest = createHash('sha256').update(words).update(bytes).digest('hex')
  return {
    documentId: documentIdOf('file', digest),
    path,
    name,
    alternativeText,
    caption,
    hash: `${basename(path, ext)
      .replace(/[^A-Za-z0-9]+/g, '_')
      .slice(0, 200)}_${digest.slice(0, 10)}`,
    ext,
    mime,
    size: (bytes.length / 1000).toFixed(2),
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

/** contract/rest.md 8 and 15: the record of a file that lies under /uploads. */
export function toFileDocument(file: MediaFile, type: ContentType): WrittenDocument {
  const fields = {
    name: file.name,
    alternativeText: file.alternativeText,
    caption: file.caption,
    width: file.dimensions?.width ?? null,
    height: file.dimensions?.height ?? null,
    hash: file.hash,
    ext: file.ext,
    mime: file.mime,
    size: file.size,
    url: `/uploads/${file.hash}${file.ext}`,
    provider: 'local',
  }
  const values = new Map<string, WrittenValue>(
    Object.entries(fields).map(([key, value]) => [key, { kind: 'scalar', value }]),
  )
  return { type, documentId: file.documentId, versions: [{ locale: null, statuses: ['published'], values }] }
}
