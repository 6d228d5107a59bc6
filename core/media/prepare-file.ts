import { newDocumentId } from '../documents/rows/document-id.ts'
import type { FileInfo } from './file-info.ts'
import { cleanName, toHash, toKilobytes } from './file-name.ts'
import type { FileRecord } from './file-record.ts'
import { type FileType, fileType } from './file-type.ts'
import { makeFormats } from './pictures/make-formats.ts'
import { pictureSize } from './pictures/picture-size.ts'
import type { FormFile } from './read-form.ts'
import type { FileStorage, LocalFile } from './storage/file-storage.ts'
import { discard } from './storage/staging.ts'

/** A file as it came, and what is said of it. */
export interface Upload {
  readonly file: FormFile
  readonly info: FileInfo
}

/** What is to be stored of an upload, and the record of it. */
export interface PreparedFile {
  readonly record: FileRecord
  readonly parts: readonly { readonly key: string; readonly file: LocalFile }[]
}

export interface PrepareTerms {
  readonly files: FileStorage
  /** Where smaller pictures are staged. */
  readonly folder: string
  /** Pixels of one picture. */
  readonly pixelLimit: number
  /** The hash and extension of the file that it replaces. */
  readonly replaced?: { readonly hash: string; readonly ext: string }
}

export const typeOf = ({ file }: Upload): FileType => fileType(file.staged, cleanName(file.filename))

/** contract/rest.md 15: what a file is called, its address, its size, its smaller pictures. */
export async function prepareFile(upload: Upload, terms: PrepareTerms): Promise<PreparedFile> {
  const { file, info } = upload
  const { mime, ext: given } = typeOf(upload)
  const name = info.name ?? cleanName(file.filename)
  const ext = terms.replaced?.ext ?? given
  const hash = terms.replaced?.hash ?? toHash(name.endsWith(ext) ? name.slice(0, -ext.length) : name)
  const { path, head, size } = file.staged
  const dimensions = isLabel(upload) ? undefined : pictureSize(head, mime)
  const made = await makeFormats(
    { path, name, hash, ext, mime, dimensions, pixelLimit: terms.pixelLimit },
    terms.folder,
  )
  const { files } = terms
  const formats = made.map(
    ({ size: key, format }) => [key, { ...format, url: files.url(`${format.hash}${ext}`) }] as const,
  )
  return {
    record: {
      documentId: newDocumentId(),
      name,
      alternativeText: info.alternativeText ?? null,
      caption: info.caption ?? null,
      focalPoint: info.focalPoint ?? null,
      hash,
      ext,
      mime,
      size: toKilobytes(size),
      dimensions,
      formats: formats.length === 0 ? null : Object.fromEntries(formats),
      url: files.url(`${hash}${ext}`),
      provider: files.provider,
    },
    parts: [
      { key: `${hash}${ext}`, file: { path, mime } },
      ...made.map(({ path: smaller, format }) => ({
        key: `${format.hash}${ext}`,
        file: { path: smaller, mime },
      })),
    ],
  }
}

/** Bytes that do not say what they are have no size in pixels either. */
const isLabel = (upload: Upload): boolean => typeOf(upload).kind === 'files'

/** Stores all parts, or none. */
export async function storeParts(prepared: readonly PreparedFile[], files: FileStorage): Promise<void> {
  const done: string[] = []
  try {
    for (const { key, file } of prepared.flatMap(({ parts }) => parts)) {
      done.push(key)
      await files.store(key, file)
    }
  } catch (error) {
    await removeKeys(done, files)
    throw error
  }
}

export async function removeKeys(keys: readonly string[], files: FileStorage): Promise<void> {
  for (const key of keys) await files.remove(key)
}

/** The staged files, whatever became of them. */
export const discardStaged = (prepared: readonly PreparedFile[]): Promise<void> =>
  discard(prepared.flatMap(({ parts }) => parts.map(({ file }) => file.path)))
