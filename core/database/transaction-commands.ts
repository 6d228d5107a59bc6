/**
 * Finds a statement that begins or ends a transaction; null: none. Comments, quoted names, string constants and function
 * bodies are ignored.
 */
export function findTransactionCommand(sql: string): string | null {
  const bare = withoutQuoted(sql)
  const found = bare.split(';').map(statement => COMMAND.exec(statement)?.[1])
  return (
    found
      .find(command => command !== undefined)
      ?.toUpperCase()
      .replace(/\s+/g, ' ') ?? null
  )
}

/** Replaces each comment, quoted name, string and function body with a space. Linear time. */
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

/** The end of the quoted part that begins at `at` (the end of the text if it is not closed); null: none begins. */
function endOfQuoted(sql: string, at: number): number | null {
  const two = sql.slice(at, at + 2)
  if (two === '--') return endAfter(sql, '\n', at)
  if (two === '/*') return endAfter(sql, '*/', at + 2)
  if (two.startsWith("'") || two.startsWith('"')) return endAfter(sql, two.charAt(0), at + 1)
  if (!two.startsWith('$')) return null
  const tag = DOLLAR.exec(sql.slice(at, at + MAX_TAG))?.[0]
  return tag === undefined ? null : endAfter(sql, tag, at + tag.length)
}

/** PostgreSQL truncates longer names. */
const MAX_TAG = 65
const DOLLAR = /^\$\w*\$/

function endAfter(sql: string, mark: string, from: number): number {
  const found = sql.indexOf(mark, from)
  return found < 0 ? sql.length : found + mark.length
}

/** Savepoints are allowed. */
const COMMAND =
  /^\s*(begin\b(?!\s+atomic)|start\s+transaction\b|commit\b|abort\b|prepare\s+transaction\b|rollback\b(?!(\s+work|\s+transaction)?\s+to\b))/i

/** True if SQL may change state that outlives its transaction: settings, prepared statements, session locks. */
export const changesSession = (sql: string): boolean => !LASTS_NO_LONGER.test(sql) || MAY_LAST.test(sql)

const LASTS_NO_LONGER =
  /^\s*(select|insert|update|delete|with|values|table|explain|savepoint|release|rollback\s+to|set\s+transaction|set\s+local|alter|drop|create\s+(?!(global\s+|local\s+)?temp)|truncate|comment)\b/i

/** A second statement, or a function with lasting effects. */
const MAY_LAST = /;\s*\S|\bset_config\b|\bpg_(try_)?advisory_lock|\binto\s+(global\s+|local\s+)?temp/i
