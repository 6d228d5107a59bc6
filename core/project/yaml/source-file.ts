import type { SourceLocation } from '../../faults/diagnostic.ts'

/** The text of a file, ready to be quoted: secrets are masked in `lines`. */
export interface SourceFile {
  /** Absolute. */
  readonly path: string
  /** As shown to the user. */
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

export function placeAt({ file, offset }: Mark): SourceLocation {
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
