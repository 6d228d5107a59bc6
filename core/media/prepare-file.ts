import { writeFile } from 'node:fs/promises'
import type { Sharp } from 'sharp'
import { onceResolved } from '../base/memo.ts'
import type { WriteScope } from '../base/request-context.ts'
import { openSerialQueue } from '../base/serial-queue.ts'
import { currentWrites } from '../database/request-scope.ts'
import { newDocumentId } from '../documents/rows/document-id.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import type { MediaKind } from '../project/settings/settings.ts'
import { isCostly } from './decoding-cost.ts'
import type { FileInfo } from './file-info.ts'
import { cleanName, type FileRecord, type Format, toHash, toKilobytes } from './file-record.ts'
import { type FileType, fileType } from './file-type.ts'
import type { PictureSize } from './picture-size.ts'
import type { FormFile } from './read-form.ts'
import type { FileStorage, LocalFile } from './storage/file-storage.ts'
import { discardFiles, stagingPath } from './storage/staging.ts'

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

export interface PrepareFileOptions {
  readonly files: FileStorage
  /** Staging folder for smaller pictures. */
  readonly folder: string
  /** Maximum number of pixels of one picture. */
  readonly pixelLimit: number
  /** Hash and extension of the file that this upload replaces. */
  readonly replaced?: { readonly hash: string; readonly ext: string }
}

export const uploadType = ({ file }: Upload): FileType => fileType(file.staged, cleanName(file.filename))

interface UploadRules {
  /** Each list must allow the file; undefined: allows all. */
  readonly kinds: readonly (readonly MediaKind[] | undefined)[]
  /** Maximum number of pixels of a picture. */
  readonly pixelLimit: number
}

/** Throws a RequestFault for files whose kind, by their bytes, is not allowed, and for pictures with too many pixels. */
export function checkUploads(uploads: readonly Upload[], { kinds, pixelLimit }: UploadRules): void {
  for (const upload of uploads) checkKind(upload, kinds)
  for (const upload of uploads) checkPixels(upload, pixelLimit)
}

function checkKind(upload: Upload, rules: UploadRules['kinds']): void {
  const { kind, mime } = uploadType(upload)
  const rule = rules.find(allowed => allowed && !allowed.includes(kind))
  if (!rule) return
  const name = cleanName(upload.file.filename)
  const message = `${name} is no file of a kind that is allowed here: ${rule.join(', ') || 'none are'}`
  throw new RequestFault(fault('validation', message, { key: 'files', found: mime, expected: rule }))
}

/** Checked by the header before decoding, since memory use grows with pixels, not with bytes. */
function checkPixels(upload: Upload, most: number): void {
  const size = upload.file.staged.picture
  if (!size || size.width * size.height <= most) return
  const { width, height } = size
  const name = cleanName(upload.file.filename)
  const message = `${name} has ${width} × ${height} pixels, and upload.pixelLimit allows ${most} together`
  throw new RequestFault(
    fault('validation', message, { key: 'files', found: width * height, expected: most }),
  )
}

/** Decides name, hash, URL and size, and makes smaller pictures (reference/rest.md#15-upload). */
export async function prepareFile(upload: Upload, options: PrepareFileOptions): Promise<PreparedFile> {
  const { file, info } = upload
  const { mime, ext: input } = uploadType(upload)
  const name = info.name ?? cleanName(file.filename)
  const ext = options.replaced?.ext ?? input
  const hash = options.replaced?.hash ?? toHash(name.endsWith(ext) ? name.slice(0, -ext.length) : name)
  const { path, size, picture: dimensions } = file.staged
  const { files } = options
  const url = files.url(`${hash}${ext}`)
  const made = await makeFormats(
    { path, name, hash, ext, mime, dimensions, pixelLimit: options.pixelLimit },
    options,
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
      formats: made.length === 0 ? null : Object.fromEntries(made.map(({ size, format }) => [size, format])),
      url,
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

/** Stores all parts; after a failure it removes those already stored. */
export async function storeParts(
  prepared: readonly PreparedFile[],
  { files, report }: RemoveOptions,
): Promise<void> {
  const done: string[] = []
  try {
    for (const { key, file } of prepared.flatMap(({ parts }) => parts)) {
      done.push(key)
      await files.store(key, file)
    }
  } catch (error) {
    await removeKeys(done, { files, report })
    throw error
  }
}

export interface RemoveOptions {
  readonly files: FileStorage
  /** Called with an error that must not fail the request. */
  report(error: unknown): void
}

/** Removes all keys that it can. Bytes without a record do no harm, so failures are only reported. */
export async function removeKeys(keys: readonly string[], { files, report }: RemoveOptions): Promise<void> {
  for (const key of keys) await files.remove(key).catch(report)
}

/** Removes the staged files, stored or not. */
export const discardStaged = (prepared: readonly PreparedFile[]): Promise<void> =>
  discardFiles(prepared.flatMap(({ parts }) => parts.map(({ file }) => file.path)))

/** A smaller picture, staged. */
interface StagedFormat {
  readonly size: string
  readonly path: string
  readonly format: Format
}

interface Picture {
  readonly path: string
  readonly name: string
  readonly hash: string
  readonly ext: string
  readonly mime: string
  readonly dimensions: PictureSize | undefined
  /** Enforced while decoding, since a header may lie. */
  readonly pixelLimit: number
}

/** reference/rest.md#15-upload: bounding boxes of the formats. */
const BOXES: readonly { readonly size: string; readonly width: number; readonly height: number }[] = [
  { size: 'thumbnail', width: 245, height: 156 },
  { size: 'small', width: 500, height: 500 },
  { size: 'medium', width: 750, height: 750 },
  { size: 'large', width: 1000, height: 1000 },
]

/** Media types of pictures that have smaller ones, and the names that sharp has for them. */
const RESIZED: Readonly<Record<string, 'png' | 'jpeg' | 'webp' | 'avif'>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/webp': 'webp',
  'image/avif': 'avif',
}

type OpenPicture = (input: string | Buffer, pixels: number) => Sharp

/** Seconds allowed for decoding a picture. */
const DECODING_TIMEOUT = 20

/**
 * The longer side of a picture with smaller ones, in shorter sides. Decoding takes time for each row as well: a picture of one pixel
 * by millions would keep all other uploads waiting, and its smaller ones would show nothing.
 */
const MAX_RATIO = 10_000

/** Uploads that may wait for the picture queue of this process. */
const MAX_WAITING = 50

const enqueue = openSerialQueue({
  maxWaiting: MAX_WAITING,
  overflow: () => new RequestFault(fault('unavailable', 'The server is busy: try again')),
})

/** sharp is an optional dependency: without it pictures have no formats. */
async function loadSharp(): Promise<OpenPicture | null> {
  try {
    const { default: sharp } = await import('sharp')
    // Without a cache and with one thread, memory is bounded by one picture.
    sharp.cache(false)
    sharp.concurrency(1)
    return (input, pixels) =>
      sharp(input, { failOn: 'error', limitInputPixels: pixels, pages: 1 }).timeout({
        seconds: DECODING_TIMEOUT,
      })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return null
    throw error
  }
}

const openSharp = onceResolved(loadSharp)

/**
 * Makes the formats that are smaller than the picture, one picture at a time. None for other files, for broken pictures,
 * and without sharp. Throws unavailable if too many uploads wait.
 */
async function makeFormats(
  picture: Picture,
  { files, folder }: PrepareFileOptions,
): Promise<readonly StagedFormat[]> {
  const { dimensions, mime } = picture
  if (!dimensions || !RESIZED[mime] || isLine(dimensions) || needsMuchMemory(picture, dimensions)) return []
  const open = await openSharp()
  const writes = currentWrites()
  return open ? enqueue(() => makeAll(open, picture, { files, folder, writes })) : []
}

/** Decoding an AVIF takes some 18 bytes for each pixel, of other pictures 6, which `upload.pixelLimit` is made for. */
const AVIF_MEMORY = 3

const needsMuchMemory = ({ mime, pixelLimit }: Picture, { width, height }: PictureSize): boolean =>
  mime === 'image/avif' && width * height * AVIF_MEMORY > pixelLimit

const isLine = ({ width, height }: PictureSize): boolean =>
  Math.max(width, height) > MAX_RATIO * Math.min(width, height)

interface FormatOptions {
  readonly files: FileStorage
  readonly folder: string
  /** Of the request; undefined: there is none. */
  readonly writes: Pick<WriteScope, 'isClosed'> | undefined
}

async function makeAll(
  open: OpenPicture,
  picture: Picture,
  { files, folder, writes }: FormatOptions,
): Promise<readonly StagedFormat[]> {
  // The request has timed out: its file will not be stored, and others wait.
  const checkTime = () => {
    if (writes?.isClosed) throw new RequestFault(fault('unavailable', 'Service Unavailable'))
  }
  checkTime()
  const decoded = await decode(open, picture)
  if (!decoded) return []
  const made: StagedFormat[] = []
  const paths: string[] = []
  try {
    for (const box of boxesBelow(decoded.dimensions)) {
      checkTime()
      const path = stagingPath(folder)
      paths.push(path)
      const format = await makeFormat(decoded.open(), picture, { ...box, path, files })
      if (!format) break
      made.push(format)
    }
    return made
  } catch (error) {
    await discardFiles(paths)
    throw error
  }
}

const boxesBelow = ({ width, height }: PictureSize) =>
  BOXES.filter(box => width > box.width || height > box.height).map(box => ({
    ...box,
    ...sizeWithin(box, { width, height }),
  }))

/** The size that sharp gives a picture within a box. */
function sizeWithin(box: PictureSize, { width, height }: PictureSize): PictureSize {
  const shrink = Math.max(width / box.width, height / box.height)
  return {
    width: Math.max(1, Math.round(width / shrink)),
    height: Math.max(1, Math.round(height / shrink)),
  }
}

interface DecodedPicture {
  /** Of the whole picture, as it is shown. */
  readonly dimensions: PictureSize
  /** The picture in the largest size that is made of it. */
  open(): Sharp
}

/**
 * Decodes a picture once for all of its smaller ones: that takes most of the time, which other uploads wait for. null: it is broken,
 * beyond the limits of sharp, or costly. It is stored without smaller ones.
 */
async function decode(
  open: OpenPicture,
  { path, mime, pixelLimit }: Picture,
): Promise<DecodedPicture | null> {
  if (await isCostly(path, mime)) return null
  try {
    const { autoOrient: dimensions } = await open(path, pixelLimit).metadata()
    const largest = boxesBelow(dimensions).at(-1)
    if (!largest) return null
    const { width, height } = largest
    const decoded = open(path, pixelLimit).rotate().resize({ width, height, fit: 'fill' })
    const pixels = await decoded.png({ compressionLevel: 0 }).toBuffer()
    return { dimensions, open: () => open(pixels, pixelLimit) }
  } catch {
    return null
  }
}

interface Box {
  readonly size: string
  readonly width: number
  readonly height: number
  /** Path of the output file. */
  readonly path: string
  readonly files: FileStorage
}

/** null: sharp cannot encode it. Throws errors of the disk and of the storage. */
async function makeFormat(decoded: Sharp, picture: Picture, box: Box): Promise<StagedFormat | null> {
  const { ext, mime } = picture
  const { size, width, height, path, files } = box
  const hash = `${size}_${picture.hash}`
  const url = files.url(`${hash}${ext}`)
  const output = await decoded
    .resize({ width, height, fit: 'fill' })
    .toFormat(RESIZED[mime] ?? 'png')
    .toBuffer({ resolveWithObject: true })
    .catch(() => null)
  if (!output) return null
  // sharp writes files, too, but does not say whether the picture or the disk failed.
  await writeFile(path, output.data)
  const { info } = output
  const sizes = {
    width: info.width,
    height: info.height,
    size: Number(toKilobytes(info.size)),
    sizeInBytes: info.size,
  }
  const names = { name: `${size}_${picture.name}`, hash, ext, mime, path: null }
  return { size, path, format: { ...names, ...sizes, url } }
}
