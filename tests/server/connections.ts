import type { ExecutionContext } from 'ava'
import pg from 'pg'
import type { RequestOrigin } from '../../core/base/request-context.ts'
import type { Database, RunOptions } from '../../core/database/database.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import type { DatabaseSettings } from '../../core/project/settings/settings.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { createDatabase } from '../harness/test-database.ts'
import { until } from '../harness/until.ts'

type Test = Pick<ExecutionContext, 'teardown'>

/** A database whose statements a test can hold back, each for as long as the test likes. */
export interface Gate {
  readonly database: Database
  readonly url: string
  /** Runs a statement that ends once `open` was called with its number. Notes when it begins. */
  run(number: number, options: RunOptions): Promise<void>
  /** The same as the only statement of a transaction. */
  write(number: number, options: RunOptions): Promise<void>
  open(...numbers: readonly number[]): Promise<void>
  /** Numbers of the statements that PostgreSQL has begun and not ended, in ascending order. */
  running(): Promise<readonly number[]>
  /** Ends a connection of the database, as an administrator may. */
  end(pid: number): Promise<void>
  /** Resolves once exactly so many run. */
  untilRunning(count: number): Promise<readonly number[]>
}

export async function openGate(
  t: Test,
  server: string,
  settings: Partial<DatabaseSettings> = {},
): Promise<Gate> {
  const url = await createDatabase(t, server)
  const opened = await openDatabase(
    { ...DATABASE_SETTINGS, url, ...settings },
    { root: '.', observe: () => {} },
  )
  if (!opened.ok) throw new Error(opened.reasons.map(({ message }) => message).join())
  const keeper = new pg.Client({ connectionString: url })
  await keeper.connect()
  const held = Array.from({ length: 200 }, (_, number) => number)
  await keeper.query('SELECT pg_advisory_lock(n) FROM unnest($1::int[]) n', [held])
  t.teardown(async () => {
    await keeper.end()
    await opened.value.close()
  })
  const running = async () => {
    const { rows } = await keeper.query<{ query: string }>(
      `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE '%gate %'
       AND pid <> pg_backend_pid()`,
    )
    return rows.map(({ query }) => Number(/gate (\d+)/.exec(query)?.[1])).sort((a, b) => a - b)
  }
  return {
    database: opened.value,
    url,
    running,
    run: async (number, options) => void (await opened.value.run(waiting(number), options)),
    write: async (number, { purpose }) =>
      void (await opened.value.transaction(transaction => transaction.run(waiting(number)), {
        ...(purpose && { purpose }),
      })),
    async open(...numbers) {
      await keeper.query('SELECT pg_advisory_unlock(n) FROM unnest($1::int[]) n', [numbers])
      await until('opened statements have ended', async () =>
        (await running()).every(number => !numbers.includes(number)),
      )
    },
    end: async pid => void (await keeper.query('SELECT pg_terminate_backend($1)', [pid])),
    async untilRunning(count) {
      await until(`${count} statements run`, async () => (await running()).length === count)
      return running()
    },
  }
}

const waiting = (number: number) => ({
  text: `/* gate ${number} */ SELECT pg_advisory_xact_lock_shared(${number})`,
  values: [],
})

/** A request of a caller, as statements name it. */
export function requestOf(caller: string): Pick<RunOptions, 'purpose' | 'readonly'> & { origin: Leaving } {
  const origin: Leaving = { caller, isDisconnected: false, bytesRead: 0 }
  return { readonly: true, purpose: { requestContext: { id: caller, origin }, describe: () => ({}) }, origin }
}

interface Leaving extends RequestOrigin {
  isDisconnected: boolean
}
