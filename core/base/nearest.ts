import { meaningsOf, plainWord } from './synonyms.ts'

/**
 * The candidate that a writer of `word` most likely meant, or undefined where none is near: the same word in another
 * spelling, what other systems call it, or one of which at most a third of the letters differ (a swap of neighbours
 * counts once).
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const known = [...candidates]
  const plain = plainWord(word)
  return (
    known.find(candidate => plainWord(candidate) === plain) ??
    meaningsOf(word).find(meaning => known.includes(meaning)) ??
    closest(word, known)
  )
}

function closest(word: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(Math.min(word.length, 40) / 3))
  let best: string | undefined
  let least = limit + 1
  for (const candidate of candidates) {
    const distance = distanceOf(word, candidate, least)
    if (distance < least) {
      best = candidate
      least = distance
    }
  }
  return best
}

/** `: did you mean \`x\`?`, or nothing. For the end of a message about an unknown word. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const near = nearest(word, candidates)
  return near === undefined ? '' : `: did you mean \`${near}\`?`
}

/** Above this many, the valid words are not listed. */
const MOST_LISTED = 14

/** The nearest word, else all of them where they are few, else that there are none: for the end of such a message. */
export function hintFor(word: string, candidates: Iterable<string>, none = 'there is none'): string {
  const known = [...candidates]
  const near = didYouMean(word, known)
  if (near !== '' || known.length > MOST_LISTED) return near
  return known.length === 0 ? `: ${none}` : `: one of ${known.map(each => `\`${each}\``).join(', ')}`
}

/** Optimal string alignment distance, given up (answering `limit`) as soon as it cannot stay below `limit`. */
function distanceOf(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit || a.length > 80 || b.length > 80) return limit
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      current.push(stepCost(a, b, row, column, { before, above, current }))
    }
    before = above
    above = current
  }
  return above[b.length] ?? limit
}

interface Rows {
  readonly before: readonly number[]
  readonly above: readonly number[]
  readonly current: readonly number[]
}

function stepCost(a: string, b: string, row: number, column: number, rows: Rows): number {
  const at = (line: readonly number[], index: number) => line[index] ?? Number.POSITIVE_INFINITY
  const same = a[row - 1] === b[column - 1]
  const cost = Math.min(
    at(rows.above, column) + 1,
    at(rows.current, column - 1) + 1,
    at(rows.above, column - 1) + (same ? 0 : 1),
  )
  const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
  return swapped ? Math.min(cost, at(rows.before, column - 2) + 1) : cost
}
