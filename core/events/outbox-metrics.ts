import type { Database } from '../database/database.ts'

/** How many events wait to be heard, and how many are kept that nobody will hear of again. */
export interface OutboxNumbers {
  readonly waiting: number
  readonly failed: number
}

/** Rejects with a DatabaseFailure. */
export async function readOutbox(database: Pick<Database, 'run'>): Promise<OutboxNumbers> {
  const { rows } = await database.run({ name: 'count the outbox', text: COUNT, values: [] }, CURRENT)
  const [waiting, failed] = rows[0] ?? []
  return { waiting: Number(waiting), failed: Number(failed) }
}

const COUNT = `SELECT (SELECT count(*) FROM plinth_outbox WHERE state = 'waiting')::integer, (SELECT count(*) FROM plinth_outbox WHERE state = 'failed')::integer`

const CURRENT = { readonly: true, onPrimary: true } as const
