/**
 * The statement of an SQL text that would end or begin a transaction; null: none. Comments, names and texts are left
 * out of it, bodies of functions too.
 */
export function transactionWordIn(sql: string): string | null {
  const bare = withoutQuoted(sql)
  const found = bare.split(';').map(statement => WORD.exec(statement)?.[1])
  return (
    found
      .find(word => word !== undefined)
      ?.toUpperCase()
      .replace(/\s+/g, ' ') ?? null
  )
}

/** The text with a space for each comment, name in quotes, text and body of a function. Each character is read once. */
function withoutQuoted(sql: string): string {
  const kept: string[] = []
  let from = 0
  for (let at = 0; at < sql.length; ) {
    const end = endOfQuoted(sql, at)
    if (end === null) at++
    else {
      kept.push(sql.slice(from, at))
      from = end
      at = end
    }
  }
  return [...kept, sql.slice(from)].join(' ')
}

/** Where what begins here ends, the end of the text where nothing closes it; null where nothing begins. */
function endOfQuoted(sql: string, at: number): number | null {
  const two = sql.slice(at, at + 2)
  if (two === '--') return behind(sql, '\n', at)
  if (two === '/*') return behind(sql, '*/', at + 2)
  if (two.startsWith("'") || two.startsWith('"')) return behind(sql, two.charAt(0), at + 1)
  if (!two.startsWith('$')) return null
  const tag = DOLLAR.exec(sql.slice(at, at + LONGEST_TAG))?.[0]
  return tag === undefined ? null : behind(sql, tag, at + tag.length)
}

/** PostgreSQL cuts longer names. */
const LONGEST_TAG = 65
const DOLLAR = /^\$\w*\$/

function behind(sql: string, mark: string, from: number): number {
  const found = sql.indexOf(mark, from)
  return found < 0 ? sql.length : found + mark.length
}

/** A savepoint is the author's own. */
const WORD =
  /^\s*(begin\b(?!\s+atomic)|start\s+transaction\b|commit\b|abort\b|prepare\s+transaction\b|rollback\b(?!(\s+work|\s+transaction)?\s+to\b))/i
