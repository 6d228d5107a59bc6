import type { Database } from '../database/database.ts'

/** Answers the version of some tables, as SQL asks for it: the one that they have after it was asked for. */
export type AskVersion = (sql: string) => Promise<string>

const READ = { readonly: true } as const

/**
 * `isShared`: all who ask for the same in one turn of the event loop share a statement: it is sent after the last has
 * asked.
 */
export function openVersions(database: Pick<Database, 'run'>, isShared: boolean): AskVersion {
  const run = async (text: string): Promise<string> => {
    const { rows } = await database.run({ text, values: [], name: 'prove an answer' }, READ)
    return String(rows[0]?.[0])
  }
  if (!isShared) return run
  const asked = new Map<string, Promise<string>>()
  const ask = async (text: string): Promise<string> => {
    await new Promise(resolve => setImmediate(resolve))
    asked.delete(text)
    return run(text)
  }
  return text => {
    const shared = asked.get(text) ?? ask(text)
    asked.set(text, shared)
    return shared
  }
}
