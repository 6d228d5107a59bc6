import { chmodSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import type { Observe } from '../observation.ts'
import type { EmbeddedEngine } from './engine.ts'
import { recordSocket, removeSocket, removeSockets, socketPaths } from './socket.ts'
import type { EmbeddedStream } from './stream.ts'
import { fatal } from './wire.ts'

/** The way of other processes to an engine that this one runs. */
export interface EmbeddedAccess {
  /** Ends their connections; their open transactions are rolled back. Safe to call twice. */
  close(): void
}

/**
 * Lets other processes of the same user work on the database by PostgreSQL's wire protocol. Where no socket can be had
 * the database works all the same, and the log says that others have no way to it.
 */
export async function offerAccess(
  engine: EmbeddedEngine,
  folder: string,
  observe: Observe,
): Promise<EmbeddedAccess> {
  const clients = new Set<EmbeddedStream>()
  const server = createServer(socket => serve(socket, engine.connectForeign(), clients))
  server.unref()
  const refused = (error: unknown) =>
    observe({
      event: 'database.access-failed',
      message: error instanceof Error ? error.message : String(error),
    })
  try {
    recordSocket(folder, await listenIn(folder, server))
  } catch (error) {
    server.close()
    refused(error)
    return { close: () => {} }
  }
  server.on('error', refused)
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
  for (const path of socketPaths(folder)) {
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
      // The folder around it is closed to others already.
      if (process.platform !== 'win32') chmodSync(path, 0o600)
      resolve()
    })
  })
}

/** A client that ends, however it does, leaves no transaction open (EmbeddedBackend.leave). */
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
