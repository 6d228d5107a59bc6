import { BoundedMap } from '../base/bounded-map.ts'
import type { Database, Rows } from '../database/database.ts'
import type { Ahead } from './ahead.ts'

/** Answers the version of some tables, as SQL asks for it: the one that they have after it was asked for. */
export type AskVersion = (sql: string, ahead?: Ahead) => Promise<string>

const READ = { readonly: true } as const

const GUESSES = { entries: 2000, characters: 2_000_000 } as const

/**
 * `isShared`: all who ask for the same in one turn of the event loop share a statement: it is sent after the last has
 * asked.
 */
export function openVersions(database: Pick<Database, 'run'>, isShared: boolean): AskVersion {
  const ask = openAsk(database, isShared)
  const guesses = new BoundedMap<string>(GUESSES, ({ length }) => length)
  return async (sql, ahead) => {
    if (!ahead) return versionAt(await ask(sql), 0)
    if (ahead.first === null) return askFirst(sql, ahead, { ask, guess: guesses.get(guessKey(ahead, sql)) })
    const { told, first } = ahead
    ahead.told = null
    if (told?.sql === sql) return told.version
    guesses.set(guessKey(ahead, first), sql)
    return versionAt(await ask(sql), 0)
  }
}

const guessKey = ({ kind }: Ahead, first: string): string => `${kind}\n${first}`

type Ask = (text: string) => Promise<Rows>

interface Asking {
  readonly ask: Ask
  /** What is likely to be asked for next. */
  readonly guess: string | undefined
}

async function askFirst(sql: string, ahead: Ahead, { ask, guess }: Asking): Promise<string> {
  ahead.first = sql
  if (guess === undefined) return versionAt(await ask(sql), 0)
  const rows = await ask(`SELECT (${sql}), (${guess})`)
  ahead.told = { sql: guess, version: versionAt(rows, 1) }
  return versionAt(rows, 0)
}

const versionAt = ({ rows }: Rows, column: number): string => String(rows[0]?.[column])

function openAsk(database: Pick<Database, 'run'>, isShared: boolean): Ask {
  const run: Ask = text => database.run({ text, values: [], name: 'prove an answer' }, READ)
  if (!isShared) return run
  const asked = new Map<string, Promise<Rows>>()
  const ask: Ask = async text => {
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
