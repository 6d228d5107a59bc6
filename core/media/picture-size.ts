import { open } from 'node:fs/promises'

export interface PictureSize {
  readonly width: number
  readonly height: number
}

/**
 * Size in pixels from the header of a picture, as browsers show it: turned as the EXIF data of a JPEG says. undefined for other
 * formats and broken headers.
 */
export function pictureSize(bytes: Buffer, mime: string): PictureSize | undefined {
  try {
    return READERS[mime]?.(bytes)
  } catch (error) {
    // A truncated header: the read went past the end.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The same for a file of which only the first bytes are in memory: the size of a JPEG can come after megabytes of metadata. */
export async function filePictureSize(
  path: string,
  head: Buffer,
  mime: string,
): Promise<PictureSize | undefined> {
  const found = pictureSize(head, mime)
  if (found || mime !== 'image/jpeg') return found
  const { isTurned } = walkJpeg(head)
  const file = await open(path)
  const segment = Buffer.alloc(SEGMENT_LENGTH)
  try {
    for (let at = 2, count = 0; count < MAX_SEGMENTS; count++) {
      const { bytesRead } = await file.read(segment, 0, SEGMENT_LENGTH, at)
      const next = readSegment(segment.subarray(0, bytesRead))
      if (typeof next !== 'number') return next && turn(next, isTurned)
      at += next
    }
    return undefined
  } finally {
    await file.close()
  }
}

/** Segments before the size: each has up to 64 KiB of metadata. */
const MAX_SEGMENTS = 4_096

const png = (bytes: Buffer): PictureSize => ({
  width: bytes.readUInt32BE(16),
  height: bytes.readUInt32BE(20),
})

const gif = (bytes: Buffer): PictureSize => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) })

/** The extended, lossless and lossy variants encode the size differently. */
function webp(bytes: Buffer): PictureSize | undefined {
  const format = bytes.toString('latin1', 12, 16)
  if (format === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (format === 'VP8 ')
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  if (format !== 'VP8L') return undefined
  const bits = bytes.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

const turn = ({ width, height }: PictureSize, isTurned: boolean): PictureSize =>
  isTurned ? { width: height, height: width } : { width, height }

function jpeg(bytes: Buffer): PictureSize | undefined {
  const { size, isTurned } = walkJpeg(bytes)
  return size && turn(size, isTurned)
}

/** Reads segments up to the frame, or to the end of the bytes. */
function walkJpeg(bytes: Buffer): { readonly size: PictureSize | undefined; readonly isTurned: boolean } {
  let isTurned = false
  for (let at = 2, count = 0; count < MAX_SEGMENTS; count++) {
    const segment = bytes.subarray(at)
    const next = readSegment(segment)
    if (typeof next !== 'number') return { size: next, isTurned }
    if (segment.readUInt8(1) === EXIF_MARKER) isTurned ||= isTurnedBy(segment.subarray(4, next))
    at += next
  }
  return { size: undefined, isTurned }
}

/** Bytes of a segment that have a frame's size. */
const SEGMENT_LENGTH = 9

/** The size that a frame header (SOF0 to SOF15, except table markers) holds; else the length of the segment; undefined: neither. */
function readSegment(bytes: Buffer): PictureSize | number | undefined {
  if (bytes.length < 4 || bytes.readUInt8(0) !== 0xff) return undefined
  const marker = bytes.readUInt8(1)
  if (marker === 0xff) return 1
  if (!isFrame(marker)) return 2 + bytes.readUInt16BE(2)
  if (bytes.length < SEGMENT_LENGTH) return undefined
  return { width: bytes.readUInt16BE(7), height: bytes.readUInt16BE(5) }
}

const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

const EXIF_MARKER = 0xe1
const ORIENTATION = 0x0112

/** True if the EXIF data have an orientation of a quarter turn (5 to 8). Broken data have none. */
function isTurnedBy(exif: Buffer): boolean {
  if (exif.toString('latin1', 0, 6) !== 'Exif\0\0') return false
  const tiff = exif.subarray(6)
  const isLittle = tiff.toString('latin1', 0, 2) === 'II'
  const short = (at: number): number => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  try {
    const start = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
    const count = short(start)
    for (let at = start + 2; at < start + 2 + count * 12; at += 12)
      if (short(at) === ORIENTATION) return short(at + 8) >= 5 && short(at + 8) <= 8
    return false
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/**
 * AVIF holds a size (`ispe`) for each of its images: tiles, a thumbnail, transparency, and the whole, which is the largest. `irot`
 * turns it.
 */
function avif(bytes: Buffer): PictureSize | undefined {
  let size: PictureSize | undefined
  let isTurned = false
  const meta = findBox(bytes, 'meta')?.subarray(4)
  const properties = meta && findBox(meta, 'iprp')
  const container = properties && findBox(properties, 'ipco')
  for (const { type, content } of container ? boxesOf(container) : []) {
    if (type === 'irot') isTurned ||= content.readUInt8(0) % 2 === 1
    if (type !== 'ispe') continue
    const found = { width: content.readUInt32BE(4), height: content.readUInt32BE(8) }
    if (!size || found.width * found.height > size.width * size.height) size = found
  }
  return size && turn(size, isTurned)
}

interface Box {
  readonly type: string
  readonly content: Buffer
}

/** The boxes of an ISO base media file (ISO 14496-12, 4.2), with 32-bit lengths. A cut one has what is there of it. */
function* boxesOf(bytes: Buffer): Generator<Box> {
  for (let at = 0; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const end = length === 0 ? bytes.length : at + length
    if (end < at + 8) return
    yield { type: bytes.toString('latin1', at + 4, at + 8), content: bytes.subarray(at + 8, end) }
    at = end
  }
}

function findBox(bytes: Buffer, type: string): Buffer | undefined {
  for (const box of boxesOf(bytes)) if (box.type === type) return box.content
  return undefined
}

const READERS: Readonly<Record<string, (bytes: Buffer) => PictureSize | undefined>> = {
  'image/png': png,
  'image/gif': gif,
  'image/webp': webp,
  'image/jpeg': jpeg,
  'image/avif': avif,
}
