export interface PictureSize {
  readonly width: number
  readonly height: number
}

/** Size in pixels from the header of a picture; undefined for other formats and broken headers. */
export function pictureSize(bytes: Buffer, mime: string): PictureSize | undefined {
  try {
    return READERS[mime]?.(bytes)
  } catch (error) {
    // A truncated header: the read went past the end.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

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

/** The frame header (SOF0 to SOF15, except table markers) holds the size. Earlier segments are skipped. */
function jpeg(bytes: Buffer): PictureSize | undefined {
  for (let at = 2; bytes.readUInt8(at) === 0xff; ) {
    const marker = bytes.readUInt8(at + 1)
    if (marker === 0xff) at += 1
    else if (isFrame(marker)) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    else at += 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

const READERS: Readonly<Record<string, (bytes: Buffer) => PictureSize | undefined>> = {
  'image/png': png,
  'image/gif': gif,
  'image/webp': webp,
  'image/jpeg': jpeg,
}
