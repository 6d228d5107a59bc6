import { withTimeout } from '../../base/with-timeout.ts'
import type { Database } from '../database.ts'
import { toDatabaseFault } from '../database-fault.ts'
import { requireGeneration } from './generations.ts'

/** Whether the tables still suit the version of the project that this process serves. */
export interface Generation {
  readonly hash: string
  /** As far as this process knows; sends no statement. */
  isOutdated(): boolean
  /** Notes what a statement was told. */
  noteOutdated(reason: string): void
  /** Asks the database, in bounded time. Where it does not answer, what was known holds. */
  check(): Promise<boolean>
  /** Asks again, but not more often than once a second; for a process that was outdated: an operator may undo a migration. */
  checkAgain(): void
}

export interface GenerationTerms {
  readonly hash: string
  /** Called each time that the process becomes outdated. */
  readonly outdated: (reason: string) => void
}

/** Milliseconds that an answer is waited for, and between two questions of an outdated process. */
const PATIENCE = 2_000
const PAUSE = 1_000

export function openGeneration(
  database: Pick<Database, 'run' | 'schema'>,
  { hash, outdated }: GenerationTerms,
): Generation {
  const statement = requireGeneration(database.schema, hash)
  let isOutdated = false
  let askedAt = Number.NEGATIVE_INFINITY
  const noteOutdated = (reason: string) => {
    if (!isOutdated) outdated(reason)
    isOutdated = true
  }
  const ask = () =>
    database.run(statement, { readonly: true }).then(
      () => {
        isOutdated = false
      },
      (error: unknown) => {
        const fault = toDatabaseFault(error)
        if (fault?.kind === 'outdated') noteOutdated(fault.message)
      },
    )
  const check = async () => {
    askedAt = Date.now()
    await withTimeout(PATIENCE, ask(), undefined)
    return !isOutdated
  }
  return {
    hash,
    isOutdated: () => isOutdated,
    noteOutdated,
    check,
    checkAgain() {
      if (Date.now() - askedAt >= PAUSE) void check()
    },
  }
}
