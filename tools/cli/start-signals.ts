/** What signals do to a server that is started. */
export interface Signals {
  /** Is aborted where SIGTERM or SIGINT comes while the server starts. */
  readonly aborted: AbortSignal
  /** From now on they do this. A reload that was asked for before is done now. */
  started(actions: Actions): void
}

interface Actions {
  readonly stop: () => void
  readonly reload: () => void
}

/** Milliseconds that a start has to end itself. */
const PATIENCE = 10_000

/**
 * Begins before the port is bound: without a handler a signal would end the process in the middle of its work. Outside
 * of production SIGHUP says that the terminal was closed.
 */
export function heedSignals(production: boolean): Signals {
  const starting = new AbortController()
  let isReloadAsked = false
  let actions: Actions = {
    stop() {
      starting.abort()
      setTimeout(() => process.exit(1), PATIENCE).unref()
    },
    reload() {
      isReloadAsked = true
    },
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => actions.stop())
  if (production) process.on('SIGHUP', () => actions.reload())
  return {
    aborted: starting.signal,
    started(next) {
      actions = next
      if (isReloadAsked) next.reload()
    },
  }
}
