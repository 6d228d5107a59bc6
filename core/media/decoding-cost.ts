import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { inflate } from 'node:zlib'

const toInflated = promisify(inflate)

/** A progressive JPEG of an encoder has some ten scans. Each walks over all pixels, whatever it contains, and no timeout ends it. */
const MAX_SCANS = 100

/** Bytes of metadata, decompressed: decoding holds some twelve copies. */
const MAX_METADATA = 16_777_216

/** Segments of a JPEG, or chunks of a PNG before its pixels. */
const MAX_PARTS = 4_096

/**
 * True if decoding takes much more time or memory than the pixels do: a JPEG with very many scans, a PNG whose texts are
 * long or expand to many times their size, and a JPEG with long metadata.
 */
export async function isCostly(path: string, mime: string): Promise<boolean> {
  const examine = EXAMINERS[mime]
  if (!examine) return false
  const file = await open(path)
  try {
    return await examine(openWindow(file))
  } finally {
    await file.close()
  }
}

/** Reads bytes at a position; fewer at the end of the file. */
type ReadAt = (position: number, length: number) => Promise<Buffer>

const BLOCK = 65_536

/** Reads blocks, so that short parts of a file take no system call each. */
function openWindow(file: FileHandle): ReadAt {
  let start = 0
  let bytes = Buffer.alloc(0)
  return async (position, length) => {
    if (position < start || position + length > start + bytes.length) {
      const block = Buffer.alloc(Math.max(length, BLOCK))
      const { bytesRead } = await file.read(block, 0, block.length, position)
      start = position
      bytes = block.subarray(0, bytesRead)
    }
    return bytes.subarray(position - start, position - start + length)
  }
}

/** Counts scans, from marker to marker as a decoder does: it skips other bytes between segments. */
async function isCostlyJpeg(readAt: ReadAt): Promise<boolean> {
  let scans = 0
  let metadata = 0
  let at = 2
  for (let count = 0; count < MAX_PARTS; count++) {
    const marker = await findMarker(readAt, at)
    if (!marker || marker.code === END_OF_IMAGE) return false
    const length = await readAt(marker.at + 2, 2)
    if (length.length < 2) return false
    at = marker.at + 2 + length.readUInt16BE()
    if (marker.code === START_OF_SCAN && ++scans > MAX_SCANS) return true
    if (marker.code !== START_OF_SCAN) metadata += at - marker.at
    if (metadata > MAX_METADATA) return true
  }
  return true
}

const START_OF_SCAN = 0xda
const END_OF_IMAGE = 0xd9

/** Less than a block: markers in a row are found in the same one. */
const STEP = 1_024

/** The next marker that ends pixels or begins a segment: 0xFF before another byte than fillers, restarts and escaped data. */
async function findMarker(
  readAt: ReadAt,
  from: number,
): Promise<{ readonly at: number; readonly code: number } | undefined> {
  for (let start = from; ; ) {
    const bytes = await readAt(start, STEP)
    for (let at = bytes.indexOf(0xff); at !== -1 && at + 1 < bytes.length; at = bytes.indexOf(0xff, at + 1)) {
      const code = bytes.readUInt8(at + 1)
      if (code > 1 && code !== 0xff && (code < 0xd0 || code > 0xd8)) return { at: start + at, code }
    }
    if (bytes.length < STEP) return undefined
    start += bytes.length - 1
  }
}

async function isCostlyPng(readAt: ReadAt): Promise<boolean> {
  let metadata = 0
  let at = 8
  for (let count = 0; count < MAX_PARTS; count++) {
    const head = await readAt(at, 8)
    if (head.length < 8) return false
    const [length, type] = [head.readUInt32BE(), head.toString('latin1', 4)]
    // Decoders read pixels without the texts that follow.
    if (type === 'IDAT') return false
    if (TEXTS.has(type)) {
      if (metadata + length > MAX_METADATA) return true
      const size = await textLength(type, await readAt(at + 8, length), MAX_METADATA - metadata)
      if (size === undefined) return true
      metadata += size
    }
    at += length + 12
  }
  return true
}

const TEXTS: ReadonlySet<string> = new Set(['tEXt', 'zTXt', 'iTXt'])

/** Bytes of a text when it is decompressed; undefined: more than `most`, or it is broken. */
async function textLength(type: string, bytes: Buffer, most: number): Promise<number | undefined> {
  const compressed = compressedPart(type, bytes)
  if (!compressed) return bytes.length
  const text = await toInflated(compressed, { maxOutputLength: Math.max(1, most) }).catch(() => undefined)
  return text?.length
}

/** The text follows a keyword and the method; in iTXt a flag and two more words as well. */
function compressedPart(type: string, bytes: Buffer): Buffer | undefined {
  const keyword = bytes.indexOf(0)
  if (keyword === -1 || type === 'tEXt') return undefined
  if (type === 'zTXt') return bytes.subarray(keyword + 2)
  if (bytes[keyword + 1] === 0) return undefined
  const language = bytes.indexOf(0, keyword + 3)
  const translation = bytes.indexOf(0, language + 1)
  return bytes.subarray(translation + 1)
}

const EXAMINERS: Readonly<Record<string, (readAt: ReadAt) => Promise<boolean>>> = {
  'image/jpeg': isCostlyJpeg,
  'image/png': isCostlyPng,
}
