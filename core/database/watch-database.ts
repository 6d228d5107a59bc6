import type { Statement } from '../sql/statement.ts'
import type { Database } from './database.ts'
import type { Purpose } from './statement-context.ts'

/** A transaction counts as one, whatever it is made of. */
export type WorkKind = 'read' | 'write' | 'transaction'

/** One that took long. */
export interface SlowWork {
  readonly requestId?: string
  readonly milliseconds: number
  /** Name of the statement, or the beginning of its SQL if it has none. No values. */
  readonly work: object
}

/** Who wants to know of the work of a database. */
export interface DatabaseWatch {
  /** Milliseconds from which work is told of. 0: never. */
  readonly slow: number
  tellSlow(slow: SlowWork): void
  /** Requests are told what their time went to. */
  readonly isTimed: boolean
  /** Receives durations; null: metrics are off. */
  readonly count: ((kind: WorkKind, milliseconds: number, isGood: boolean) => void) | null
  /** Starts a span and ends it with the answer; null: tracing is off. */
  readonly trace: ((kind: WorkKind, name: string) => (error?: unknown) => void) | null
}

/** The database with observation; unchanged if nothing observes it. */
export function watchDatabase(database: Database, watch: DatabaseWatch): Database {
  if (watch.slow === 0 && !watch.isTimed && !watch.count && !watch.trace) return database
  const follow = openFollowing(watch)
  return {
    ...database,
    run(statement, options) {
      // It is a part of what is followed already.
      if (options?.transaction) return database.run(statement, options)
      const kind = options?.readonly ? 'read' : 'write'
      return follow({ kind, statement, purpose: options?.purpose }, () => database.run(statement, options))
    },
    transaction: (work, options) =>
      follow({ kind: 'transaction', purpose: options?.purpose }, () => database.transaction(work, options)),
  }
}

interface Followed {
  readonly kind: WorkKind
  readonly purpose: Purpose | undefined
  readonly statement?: Statement
}

function openFollowing({ slow, tellSlow, count, trace }: Omit<DatabaseWatch, 'isTimed'>) {
  const end = (followed: Followed, began: number, isGood: boolean) => {
    const milliseconds = performance.now() - began
    const trail = followed.purpose?.trail
    if (trail?.timing) trail.timing.database += milliseconds
    count?.(followed.kind, milliseconds, isGood)
    if (slow > 0 && milliseconds >= slow)
      tellSlow({ ...(trail && { requestId: trail.id }), milliseconds, work: describe(followed) })
  }
  return async <Value>(followed: Followed, run: () => Promise<Value>): Promise<Value> => {
    const began = performance.now()
    const endSpan = trace?.(followed.kind, nameOf(followed))
    try {
      const value = await run()
      end(followed, began, true)
      endSpan?.()
      return value
    } catch (error) {
      end(followed, began, false)
      endSpan?.(error)
      throw error
    }
  }
}

/** Characters of a statement; it is made of the names of the model, and parameters. */
const SHOWN = 300

const describe = ({ kind, purpose, statement }: Followed): object =>
  purpose?.describe() ??
  (statement ? { statement: statement.name ?? statement.text.slice(0, SHOWN) } : { kind })

/** Of few words: traces are found by them. */
function nameOf({ kind, purpose, statement }: Followed): string {
  const said = purpose?.describe()
  if (said && 'action' in said && 'contentType' in said) return `${said.contentType}.${said.action}`
  return statement?.name ?? kind
}
