import type { Server, ServerResponse } from 'node:http'
import type { Observer } from '../observe/observation.ts'

/** Milliseconds between two lines about connections that could not be accepted: there may be thousands. */
const PAUSE = 1_000

/**
 * Handles the errors of a server that listens and of its responses. Without a listener each would end the process:
 * `accept` fails where no file descriptor is left, and a middleware may write to a response that has ended.
 */
export function handleErrors(server: Server, observer: () => Observer): void {
  let last = Number.NEGATIVE_INFINITY
  server.on('error', error => {
    if (!server.listening || performance.now() - last < PAUSE) return
    last = performance.now()
    observer().emit({ kind: 'acceptFailed', message: error.message })
  })
  server.on('request', (_request, response: ServerResponse) => {
    response.on('error', error => observer().emit({ kind: 'pluginFailed', message: WRITTEN_LATE, error }))
  })
}

const WRITTEN_LATE = 'A response was written to after it had ended'
