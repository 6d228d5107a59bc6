/**
 * The statement of an SQL text that would end or begin a transaction; null: none. Comments, names and texts are left
 * out of it, bodies of functions too.
 */
export function transactionWordIn(sql: string): string | null {
  const bare = sql.replace(NOT_CODE, ' ')
  const found = bare.split(';').map(statement => WORD.exec(statement)?.[1])
  return (
    found
      .find(word => word !== undefined)
      ?.toUpperCase()
      .replace(/\s+/g, ' ') ?? null
  )
}

const NOT_CODE = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$/g

/** A savepoint is the author's own. */
const WORD =
  /^\s*(begin\b(?!\s+atomic)|start\s+transaction\b|commit\b|abort\b|prepare\s+transaction\b|rollback\b(?!(\s+work|\s+transaction)?\s+to\b))/i
