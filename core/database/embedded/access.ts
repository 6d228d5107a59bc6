import { chmodSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import type { Observe } from '../open-options.ts'
import type { EmbeddedEngine } from './engine.ts'
import { createSocketPaths, removeSocket, removeSockets, writeSocketPath } from './socket.ts'
import type { EmbeddedStream } from './stream.ts'
import { fatal } from './wire.ts'

/** Lets other processes use the engine of this one. */
export interface EmbeddedAccess {
  /** Ends their connections and rolls back their open transactions. Safe to call twice. */
  close(): void
}

/**
 * Lets other processes of the same user use the database by PostgreSQL's wire protocol. Without a socket the database works
 * nevertheless, and an observation reports that others cannot use it.
 */
export async function offerAccess(
  engine: EmbeddedEngine,
  folder: string,
  observe: Observe,
): Promise<EmbeddedAccess> {
  const clients = new Set<EmbeddedStream>()
  const server = createServer(socket => serve(socket, engine.connectForeign(), clients))
  server.unref()
  const report = (error: unknown) =>
    observe({
      event: 'database.access-failed',
      message: error instanceof Error ? error.message : String(error),
    })
  try {
    writeSocketPath(folder, await listenIn(folder, server))
  } catch (error) {
    server.close()
    report(error)
    return { close: () => {} }
  }
  server.on('error', report)
  return {
    close() {
      if (!server.listening) return
      server.close()
      for (const client of clients) client.fail(new Error(STOPPED))
      removeSockets(folder)
    },
  }
}

const STOPPED =
  'the process that holds the embedded database stopped; the open transaction was rolled back. Run the command again'

async function listenIn(folder: string, server: Server): Promise<string> {
  let failure: unknown = new Error(
    'the path of the folder is too long for a socket, and so is that of temporary files',
  )
  for (const path of createSocketPaths(folder)) {
    try {
      await listen(server, path)
      return path
    } catch (error) {
      removeSocket(path)
      failure = error
    }
  }
  throw failure
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      // Its folder is closed to other users already.
      if (process.platform !== 'win32') chmodSync(path, 0o600)
      resolve()
    })
  })
}

/** However a client ends, its open transaction is rolled back (EmbeddedBackend.leave). */
function serve(socket: Socket, stream: EmbeddedStream, clients: Set<EmbeddedStream>): void {
  clients.add(stream)
  socket.on('error', () => stream.destroy())
  socket.on('close', () => stream.destroy())
  stream.on('error', error => socket.end(fatal(error.message)))
  stream.on('close', () => {
    clients.delete(stream)
    socket.end()
  })
  socket.pipe(stream).pipe(socket)
}
