import type { Running } from '../process.ts'
import type { Answered, Raw } from './documents.ts'
import type { Installed } from './install.ts'
import type { Requests, RowName } from './rows.ts'

/** One of the servers that are compared. */
export interface Contender {
  readonly name: string
  /** Its database. */
  readonly url: string
  readonly requests: Requests
  /** What its answer to a request of that row says, in words common to all. */
  readonly read: (row: RowName, body: Raw) => Answered
  /** Where a document that it answered as made is read with both relations. */
  readonly madeAt?: (body: Raw) => string
  start(): Promise<Running>
}

/** One that is installed as its users install it. */
export interface Peer extends Contender {
  readonly installed: Installed
}

/** Where one is to be installed, and what is to be in its database, which is empty. */
export interface Setting {
  readonly within: string
  readonly url: string
  readonly articles: number
}

export const PRODUCTION = { NODE_ENV: 'production' }

/** For tables that are made by a start. */
export async function startOnce(start: () => Promise<Running>): Promise<void> {
  const running = await start()
  await running.stop()
}
