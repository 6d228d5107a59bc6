import { LruCache } from '../base/lru-cache.ts'
import { memoryBytes } from '../base/text.ts'
import { withTimeout } from '../base/with-timeout.ts'
import type { Database, Rows } from '../database/database.ts'
import type { Ahead } from './version-prefetch.ts'

/** Answers the version of some tables, as SQL asks for it: the one that they have after it was asked for. */
export type AskVersion = (sql: string, ahead?: Ahead) => Promise<string>

const READ = { readonly: true } as const

const GUESSES = { entries: 2000, bytes: 2_000_000 } as const

/**
 * `isShared`: all who ask for the same while a statement is under way share the next one: it is sent after the last of
 * them has asked.
 */
export function openVersions(database: Pick<Database, 'run'>, isShared: boolean): AskVersion {
  const ask = openAsk(database, isShared)
  const guesses = new LruCache<string>(GUESSES, memoryBytes)
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
  const queues = new Map<string, Queue>()
  return text => {
    const queue = queues.get(text) ?? { next: null, current: null }
    queues.set(text, queue)
    queue.next ??= depart(queue, () => run(text)).finally(() => {
      if (!queue.next && !queue.current) queues.delete(text)
    })
    return queue.next
  }
}

/** Who asks for one text. */
interface Queue {
  /** Is still to be sent: whoever asks now is answered by it. */
  next: Promise<Rows> | null
  /** Was sent before. */
  current: Promise<Rows> | null
}

/** Milliseconds that the next statement waits for the one under way: together they are one for all who wait. */
const PATIENCE = 5

async function depart(queue: Queue, run: () => Promise<Rows>): Promise<Rows> {
  await new Promise(resolve => setImmediate(resolve))
  if (queue.current) await withTimeout(PATIENCE, queue.current.then(ignore, ignore), undefined)
  const sent = run()
  queue.next = null
  queue.current = sent
  try {
    return await sent
  } finally {
    if (queue.current === sent) queue.current = null
  }
}

/** Who asked for it is told what came of it. */
const ignore = () => undefined
