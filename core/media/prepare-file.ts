import { newDocumentId } from '../documents/rows/document-id.ts'
import type { FileInfo } from './file-info.ts'
import { cleanName, type FileRecord, toHash, toKilobytes } from './file-record.ts'
import { type FileType, fileType } from './file-type.ts'
import { makeFormats } from './pictures/make-formats.ts'
import { pictureSize } from './pictures/picture-size.ts'
import type { FormFile } from './read-form.ts'
import type { FileStorage, LocalFile } from './storage/file-storage.ts'
import { discardFiles } from './storage/staging.ts'

/** A staged file and its description. */
export interface Upload {
  readonly file: FormFile
  readonly info: FileInfo
}

/** The record of an upload, and the files to store: the original and its smaller pictures. */
export interface PreparedFile {
  readonly record: FileRecord
  readonly parts: readonly { readonly key: string; readonly file: LocalFile }[]
}

export interface PrepareFileTerms {
  readonly files: FileStorage
  /** Staging folder for smaller pictures. */
  readonly folder: string
  /** Maximum number of pixels of one picture. */
  readonly pixelLimit: number
  /** Hash and extension of the file that this upload replaces. */
  readonly replaced?: { readonly hash: string; readonly ext: string }
}

export const uploadType = ({ file }: Upload): FileType => fileType(file.staged, cleanName(file.filename))

/** Decides name, hash, URL and size, and makes smaller pictures (reference/rest.md#15-upload). */
export async function prepareFile(upload: Upload, terms: PrepareFileTerms): Promise<PreparedFile> {
  const { file, info } = upload
  const { mime, ext: given } = uploadType(upload)
  const name = info.name ?? cleanName(file.filename)
  const ext = terms.replaced?.ext ?? given
  const hash = terms.replaced?.hash ?? toHash(name.endsWith(ext) ? name.slice(0, -ext.length) : name)
  const { path, head, size } = file.staged
  const dimensions = hasUnverifiedType(upload) ? undefined : pictureSize(head, mime)
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

/** True if only the name gives the type: then the bytes are not read as a picture. */
const hasUnverifiedType = (upload: Upload): boolean => uploadType(upload).kind === 'files'

/** Stores all parts; after a failure it removes those already stored. */
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

/** Removes the staged files, stored or not. */
export const discardStaged = (prepared: readonly PreparedFile[]): Promise<void> =>
  discardFiles(prepared.flatMap(({ parts }) => parts.map(({ file }) => file.path)))
