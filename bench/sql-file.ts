import { readFileSync } from 'node:fs'
import pg from 'pg'

/** Runs a file's statements one by one, with numbers for its `:names`. */
export async function runFile(
  url: string,
  path: string,
  numbers: Readonly<Record<string, number>>,
): Promise<void> {
  const named = Object.entries(numbers)
  const text = named.reduce(
    (sql, [name, number]) => sql.replaceAll(`:${name}`, String(number)),
    readFileSync(path, 'utf8'),
  )
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of text.split(/;\s*\n/)) if (statement.trim() !== '') await client.query(statement)
  } finally {
    await client.end()
  }
}
