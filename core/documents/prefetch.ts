import { ignoreUnhandled } from '../base/with-timeout.ts'
import type { Rows } from '../database/database.ts'
import type { Statement } from '../sql/statement.ts'
import type { LockingOptions } from './rows/write-options.ts'

type Writing = LockingOptions['transaction']

/** Two views of one transaction. `cached` answers a statement that `prefetch` sent before with the rows of that one. */
export interface Prefetch {
  readonly prefetch: Writing
  readonly cached: Writing
}

export function openPrefetch(transaction: Writing): Prefetch {
  const asked = new Map<string, Promise<Rows>>()
  const others: Omit<Writing, 'run'> = {
    send: statement => transaction.send(statement),
    lock: name => transaction.lock(name),
  }
  return {
    prefetch: {
      ...others,
      run(statement) {
        const rows = ignoreUnhandled(transaction.run(statement))
        asked.set(keyOf(statement), rows)
        return rows
      },
    },
    cached: {
      ...others,
      run: statement =>
        (asked.size > 0 ? asked.get(keyOf(statement)) : undefined) ?? transaction.run(statement),
    },
  }
}

const keyOf = ({ text, values }: Statement): string => JSON.stringify([text, values])
