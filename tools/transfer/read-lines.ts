import { createReadStream } from 'node:fs'
import { FileFault, toFileFault } from './file-fault.ts'

export interface Line {
  /** From 1. */
  readonly number: number
  readonly bytes: Buffer
}

/** Bytes that one line may have: a document that is longer is none. */
const LONGEST = 256 * 1024 * 1024

const NEWLINE = 0x0a

/** The lines of a file, one after the other; `heard` gets every byte. Empty ones are counted and left out. */
export async function* readLines(
  path: string,
  heard: (bytes: Buffer) => void = () => {},
): AsyncGenerator<Line> {
  let number = 0
  let rest: Buffer[] = []
  let length = 0
  for await (const bytes of readBytes(path)) {
    heard(bytes)
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      number += 1
      const line = joined(rest, bytes.subarray(start, end))
      if (line.length > 0) yield { number, bytes: line }
      rest = []
      length = 0
      start = end + 1
    }
    rest.push(bytes.subarray(start))
    length += bytes.length - start
    if (length > LONGEST) throw new FileFault(`${path}:${number + 1} is a line of more than ${LONGEST} bytes`)
  }
  const last = joined(rest, Buffer.alloc(0))
  if (last.length > 0) yield { number: number + 1, bytes: last }
}

async function* readBytes(path: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) yield Buffer.from(chunk)
  } catch (error) {
    throw toFileFault(error)
  }
}

function joined(rest: readonly Buffer[], end: Buffer): Buffer {
  const whole = rest.length === 0 ? end : Buffer.concat([...rest, end])
  return whole.at(-1) === 0x0d ? whole.subarray(0, -1) : whole
}
