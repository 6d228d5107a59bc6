import type { PGlite } from '@electric-sql/pglite'

// What PGlite has, but does not export.

interface Internals {
  readonly mod: {
    /** PGlite calls it for the messages of a batch, one after another. */
    _PostgresMainLoopOnce(): void
    stackRestore(pointer: number): void
    /** Ends all timers. */
    _clear_setitimer(): void
  }
  /** The status of an SQL error. */
  readonly POSTGRES_MAIN_LONGJMP: number
}

const internalsOf = (postgres: PGlite): Internals => postgres as unknown as Internals

/**
 * PGlite catches each error of a message and goes on with the batch. After one that ended PostgreSQL (FATAL, PANIC, or a trap of
 * WebAssembly) no message is read any more, so that it repeats without end and blocks the event loop. This throws the error
 * instead. https://github.com/electric-sql/pglite/issues/1058
 */
export function throwStops(postgres: PGlite): void {
  const { mod: loop, POSTGRES_MAIN_LONGJMP: sqlError } = internalsOf(postgres)
  const { _PostgresMainLoopOnce: processMessage, stackRestore } = loop
  let stopped: { readonly error: unknown } | undefined
  loop._PostgresMainLoopOnce = () => {
    try {
      processMessage()
    } catch (error) {
      if (Object(error).status !== sqlError) stopped = { error }
      throw error
    }
  }
  // The first call in PGlite's own catch.
  loop.stackRestore = pointer => {
    if (stopped) throw stopped.error
    stackRestore(pointer)
  }
}

/**
 * Ends PostgreSQL's timers, which would keep the process from ending: that of the last statement timeout, and the one that writes
 * the statistics of an idle session. PostgreSQL takes one that is late for lost, and sets the next.
 */
export const clearTimers = (postgres: PGlite): void => internalsOf(postgres).mod._clear_setitimer()
