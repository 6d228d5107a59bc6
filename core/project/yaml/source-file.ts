import { isUtf8 } from 'node:buffer'
import { open } from 'node:fs/promises'
import { dirname, isAbsolute, relative, sep } from 'node:path'
import { failed, ok, type Result } from '../../base/result.ts'
import type { Diagnostic, Path, SourceLocation } from '../../faults/diagnostic.ts'
import type { ProjectFault } from '../faults.ts'

/** The text of a file, ready to be quoted: secrets are masked in `lines`. */
export interface SourceFile {
  /** Absolute. */
  readonly path: string
  /** The path that messages show. */
  readonly shown: string
  /** The lines as they may be quoted, without line breaks. */
  readonly lines: readonly string[]
  /** The offset of each line's first character, in UTF-16 units. */
  readonly starts: readonly number[]
}

/** A position in a file. */
export interface Mark {
  readonly file: SourceFile
  readonly offset: number
}

/** The range of a secret; the end is exclusive. */
export type SecretRange = readonly [start: number, end: number]

/** True if the value at a path is a secret, which must never be printed. */
export type SecretTest = (path: Path) => boolean

export interface SourceText {
  readonly path: string
  readonly shown: string
  readonly text: string
}

export function toSourceFile(source: SourceText, secrets: readonly SecretRange[]): SourceFile {
  const quotable = maskSecrets(source.text, secrets)
  const starts = [0]
  for (const found of source.text.matchAll(/\r\n|\n|\r/g)) starts.push(found.index + found[0].length)
  return { path: source.path, shown: source.shown, starts, lines: quotable.split(/\r\n|\n|\r/) }
}

/** Replaces every character of a secret except line breaks by `*`, so that columns stay the same. */
function maskSecrets(text: string, secrets: readonly SecretRange[]): string {
  let quotable = ''
  let at = 0
  for (const [start, end] of secrets.toSorted((a, b) => a[0] - b[0])) {
    if (end <= at) continue
    const from = Math.max(at, start)
    quotable += text.slice(at, from) + text.slice(from, end).replace(/[^\r\n]/g, '*')
    at = end
  }
  return quotable + text.slice(at)
}

export function locationAt({ file, offset }: Mark): SourceLocation {
  const index = lineAt(file.starts, offset)
  return {
    file: file.shown,
    line: index + 1,
    column: offset - (file.starts[index] ?? 0) + 1,
    source: file.lines[index] ?? '',
  }
}

/** The last line that begins at or before the offset. */
function lineAt(starts: readonly number[], offset: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

/** Bytes. A larger file is a mistake or an attack. */
const MAX_FILE_BYTES = 5 * 1024 * 1024

/** Reads a UTF-8 text file of at most 5 MiB and removes its byte order mark. */
export async function readSource(path: string, root: string): Promise<Result<SourceText, Diagnostic>> {
  const shown = shownPath(path, root)
  const fail = (code: ProjectFault, message: string, at = { line: 1, column: 1 }) =>
    failed(fileFault(code, message, { file: shown, source: '', ...at }))
  try {
    const bytes = await readAtMost(path, MAX_FILE_BYTES + 1)
    if (bytes.length > MAX_FILE_BYTES) return fail('too-large', 'the file is larger than 5 MiB')
    if (isUtf16(bytes)) return fail('bad-encoding', 'the file is UTF-16: save it as UTF-8')
    if (!isUtf8(bytes))
      return fail('bad-encoding', 'the file is not UTF-8: save it as UTF-8', firstInvalid(bytes))
    return ok({ path, shown, text: new TextDecoder('utf-8').decode(bytes) })
  } catch (error) {
    return fail('unreadable', `the file cannot be read: ${reasonOf(error, path)}`)
  }
}

/** Relative to the root for paths inside it, with `/` on every system; else absolute. */
export function shownPath(path: string, root: string): string {
  const inside = relative(root, path)
  const leaves = inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)
  return leaves ? path : inside.split(sep).join('/')
}

const fileFault = (code: ProjectFault, message: string, location: SourceLocation): Diagnostic => ({
  code,
  message,
  location,
  path: [],
})

/** The place of the first bytes that are not UTF-8. The line is not quoted: it may hold a secret. */
function firstInvalid(bytes: Buffer): Pick<SourceLocation, 'line' | 'column'> {
  let start = 0
  for (let line = 1; ; line++) {
    const end = bytes.indexOf(0x0a, start)
    const text = bytes.subarray(start, end === -1 ? bytes.length : end)
    if (end === -1 || !isUtf8(text)) return { line, column: text.toString('utf8').indexOf('\ufffd') + 1 }
    start = end + 1
  }
}

async function readAtMost(path: string, limit: number): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of file.createReadStream({ end: limit - 1, autoClose: false })) {
      chunks.push(chunk)
      length += chunk.length
    }
    return Buffer.concat(chunks, length)
  } finally {
    await file.close()
  }
}

/** With a byte order mark, or the two bytes of each ASCII character without one. */
const isUtf16 = (bytes: Buffer): boolean =>
  (bytes[0] === 0xff && bytes[1] === 0xfe) ||
  (bytes[0] === 0xfe && bytes[1] === 0xff) ||
  [0, 1].some(odd => bytes.length >= 4 && bytes[odd] === 0 && bytes[odd + 2] === 0)

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** For a missing file the message has the absolute path, which shows where it was expected. */
function reasonOf(error: unknown, path: string): string {
  if (codeOf(error) === 'ENOENT') return `there is no such file: ${path}`
  if (codeOf(error) === 'ENOTDIR') return `${dirname(path)} is a file, not a folder`
  if (codeOf(error) === 'EISDIR') return 'it is a folder'
  if (codeOf(error) === 'EACCES' || codeOf(error) === 'EPERM') return 'Plinth may not read it'
  return codeOf(error) || 'the system does not say why'
}
