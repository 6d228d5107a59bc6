import type { Sharp } from 'sharp'
import { openSerialQueue } from '../../base/serial-queue.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import { toKilobytes } from '../file-name.ts'
import type { Format } from '../file-record.ts'
import { stagingPath } from '../storage/staging.ts'
import type { PictureSize } from './picture-size.ts'

/** A smaller picture, staged. */
export interface MadeFormat {
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
  /** What its header said is believed no further. */
  readonly pixelLimit: number
}

/** contract/rest.md 15: the boxes that the sizes fit in. */
const BOXES: readonly { readonly size: string; readonly width: number; readonly height: number }[] = [
  { size: 'thumbnail', width: 245, height: 156 },
  { size: 'small', width: 500, height: 500 },
  { size: 'medium', width: 750, height: 750 },
  { size: 'large', width: 1000, height: 1000 },
]

const RESIZED: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/avif'])

type OpenPicture = (path: string, pixels: number) => Sharp

/** Seconds that one smaller picture may take. */
const TIMEOUT = 20

/** Uploads whose pictures may wait for others in this process. */
const MAX_WAITING = 50

const enqueue = openSerialQueue({
  maxWaiting: MAX_WAITING,
  overflow: () => new RequestFault(fault('unavailable', 'The server is busy: try again')),
})

/** sharp is the user's to install: without it pictures have no formats. */
async function loadSharp(): Promise<OpenPicture | null> {
  try {
    const { default: sharp } = await import('sharp')
    // Nothing of a picture is kept, and one thread works on it: memory stays that of one picture.
    sharp.cache(false)
    sharp.concurrency(1)
    return (path, pixels) =>
      sharp(path, { failOn: 'error', limitInputPixels: pixels, pages: 1 }).timeout({ seconds: TIMEOUT })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return null
    throw error
  }
}

let loading: Promise<OpenPicture | null> | undefined

/**
 * The sizes that a picture is larger than, one picture at a time; none of what is no picture, or a broken one, or where sharp is
 * not installed.
 */
export async function makeFormats(picture: Picture, folder: string): Promise<readonly MadeFormat[]> {
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
): Promise<readonly MadeFormat[]> {
  const made: MadeFormat[] = []
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
  /** Where it goes. */
  readonly path: string
}

async function makeFormat(open: OpenPicture, picture: Picture, box: Box): Promise<MadeFormat | null> {
  const { ext, mime } = picture
  const { size, width, height, path } = box
  const written = await open(picture.path, picture.pixelLimit)
    .rotate()
    .resize({ width, height, fit: 'inside' })
    .toFile(path)
    // Its bytes are broken, or more than sharp takes: it is kept, and has no smaller ones.
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
