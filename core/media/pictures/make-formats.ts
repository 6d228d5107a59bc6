import type { Sharp } from 'sharp'
import { openSerialQueue } from '../../base/serial-queue.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import { type Format, toKilobytes } from '../file-record.ts'
import { stagingPath } from '../storage/staging.ts'
import type { PictureSize } from './picture-size.ts'

/** A smaller picture, staged. */
export interface StagedFormat {
  readonly size: string
  readonly path: string
  readonly format: Omit<Format, 'url'>
}

export interface Picture {
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

const RESIZED: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/avif'])

type OpenPicture = (path: string, pixels: number) => Sharp

/** Seconds allowed for one smaller picture. */
const FORMAT_TIMEOUT = 20

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
    return (path, pixels) =>
      sharp(path, { failOn: 'error', limitInputPixels: pixels, pages: 1 }).timeout({
        seconds: FORMAT_TIMEOUT,
      })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return null
    throw error
  }
}

let loading: Promise<OpenPicture | null> | undefined

/**
 * Makes the formats that are smaller than the picture, one picture at a time. None for other files, for broken pictures,
 * and without sharp. Throws unavailable if too many uploads wait.
 */
export async function makeFormats(picture: Picture, folder: string): Promise<readonly StagedFormat[]> {
  const { dimensions, mime } = picture
  if (!dimensions || !RESIZED.has(mime)) return []
  loading ??= loadSharp()
  const open = await loading
  return open ? enqueue(() => makeAll(open, picture, dimensions, folder)) : []
}

async function makeAll(
  open: OpenPicture,
  picture: Picture,
  dimensions: PictureSize,
  folder: string,
): Promise<readonly StagedFormat[]> {
  const made: StagedFormat[] = []
  for (const box of BOXES) {
    if (dimensions.width <= box.width && dimensions.height <= box.height) continue
    const format = await makeFormat(open, picture, { ...box, path: stagingPath(folder) })
    if (format) made.push(format)
  }
  return made
}

interface Box {
  readonly size: string
  readonly width: number
  readonly height: number
  /** Path of the output file. */
  readonly path: string
}

async function makeFormat(open: OpenPicture, picture: Picture, box: Box): Promise<StagedFormat | null> {
  const { ext, mime } = picture
  const { size, width, height, path } = box
  const written = await open(picture.path, picture.pixelLimit)
    .rotate()
    .resize({ width, height, fit: 'inside' })
    .toFile(path)
    // Broken pictures, and pictures beyond the limits of sharp, are stored without smaller ones.
    .catch(() => null)
  if (!written) return null
  const sizes = {
    width: written.width,
    height: written.height,
    size: Number(toKilobytes(written.size)),
    sizeInBytes: written.size,
  }
  const names = { name: `${size}_${picture.name}`, hash: `${size}_${picture.hash}`, ext, mime, path: null }
  return { size, path, format: { ...names, ...sizes } }
}
