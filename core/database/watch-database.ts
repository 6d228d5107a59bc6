import type { Statement } from '../sql/statement.ts'
import type { Database, StatementContext } from './database.ts'

/** A transaction counts as one, with all its statements. */
export type WorkKind = 'read' | 'write' | 'transaction'

/** A statement or transaction that took long. */
export interface SlowWork {
  readonly requestId?: string
  readonly milliseconds: number
  /** The statement's name, or the beginning of its SQL. Contains no values. */
  readonly work: object
}

/** Observers of a database's work. */
export interface DatabaseWatch {
  /** Milliseconds from which work is reported as slow. 0: never. */
  readonly slow: number
  reportSlow(slow: SlowWork): void
  /** True if requests record the time spent in the database. */
  readonly isTimed: boolean
  /** Receives durations; null: metrics are off. */
  readonly count: ((kind: WorkKind, milliseconds: number, isGood: boolean) => void) | null
  /** Starts a span and ends it with the answer; null: tracing is off. */
  readonly trace: ((kind: WorkKind, name: string) => (error?: unknown) => void) | null
}

/** The database with observation; unchanged if nothing observes it. */
export function watchDatabase(database: Database, watch: DatabaseWatch): Database {
  if (watch.slow === 0 && !watch.isTimed && !watch.count && !watch.trace) return database
  const observe = createObserver(watch)
  return {
    ...database,
    run(statement, options) {
      // The transaction is observed as a whole.
      if (options?.transaction) return database.run(statement, options)
      const kind = options?.readonly ? 'read' : 'write'
      return observe({ kind, statement, purpose: options?.purpose }, () => database.run(statement, options))
    },
    transaction: (work, options) =>
      observe({ kind: 'transaction', purpose: options?.purpose }, () => database.transaction(work, options)),
  }
}

interface ObservedWork {
  readonly kind: WorkKind
  readonly purpose: StatementContext | undefined
  readonly statement?: Statement
}

function createObserver({ slow, reportSlow, count, trace }: Omit<DatabaseWatch, 'isTimed'>) {
  const end = (work: ObservedWork, began: number, isGood: boolean) => {
    const milliseconds = performance.now() - began
    const requestContext = work.purpose?.requestContext
    if (requestContext?.timing) requestContext.timing.database += milliseconds
    count?.(work.kind, milliseconds, isGood)
    if (slow > 0 && milliseconds >= slow)
      reportSlow({
        ...(requestContext && { requestId: requestContext.id }),
        milliseconds,
        work: describe(work),
      })
  }
  return async <Value>(work: ObservedWork, run: () => Promise<Value>): Promise<Value> => {
    const began = performance.now()
    const endSpan = trace?.(work.kind, nameOf(work))
    try {
      const value = await run()
      end(work, began, true)
      endSpan?.()
      return value
    } catch (error) {
      end(work, began, false)
      endSpan?.(error)
      throw error
    }
  }
}

/** Characters. SQL contains names of the model and parameters, but no values. */
const MAX_TEXT = 300

const describe = ({ kind, purpose, statement }: ObservedWork): object =>
  purpose?.describe() ??
  (statement ? { statement: statement.name ?? statement.text.slice(0, MAX_TEXT) } : { kind })

/** From a small set: traces are searched by it. */
function nameOf({ kind, purpose, statement }: ObservedWork): string {
  const described = purpose?.describe()
  if (described && 'action' in described && 'contentType' in described)
    return `${described.contentType}.${described.action}`
  return statement?.name ?? kind
}
