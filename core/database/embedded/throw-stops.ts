import type { PGlite } from '@electric-sql/pglite'

/** What PGlite calls to process the messages of a batch, one after another. */
interface MessageLoop {
  _PostgresMainLoopOnce(): void
  stackRestore(pointer: number): void
}

/**
 * PGlite catches each error of a message and goes on with the batch. After one that ended PostgreSQL (FATAL, PANIC, or a trap of
 * WebAssembly) no message is read any more, so that it repeats without end and blocks the event loop. This throws the error
 * instead. https://github.com/electric-sql/pglite/issues/1058
 */
export function throwStops(postgres: PGlite): void {
  const { mod: loop, POSTGRES_MAIN_LONGJMP: sqlError } = postgres as unknown as {
    readonly mod: MessageLoop
    readonly POSTGRES_MAIN_LONGJMP: number
  }
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
