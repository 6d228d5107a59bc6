import type { ExecutionContext } from 'ava'
import pg from 'pg'
import { temporaryFolder } from '../harness/folder.ts'
import { type Server, startServer } from '../harness/server.ts'
import { createDatabase } from '../harness/test-database.ts'
import { openWire, type Wire } from './wire.ts'

/** A server whose connections to its database can be cut. */
export interface WiredServer {
  readonly server: Server
  readonly wire: Wire
  /** Starts another process on the same database, with direct connections. */
  startSecond(): Promise<Server>
  /** Runs a statement on a connection of the test. */
  query(text: string, values?: readonly unknown[]): Promise<readonly unknown[][]>
}

/** `files`: the project's files by their paths; its database URL is `${DATABASE_URL}`. */
export async function startWiredServer(
  t: ExecutionContext,
  files: Readonly<Record<string, string>>,
): Promise<WiredServer> {
  const url = await createDatabase(t, process.env.TEST_DATABASE_URL ?? '')
  const wire = await openWire(t, url)
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  for (const [path, text] of Object.entries(files)) folder.write(path, text)
  const start = async (databaseUrl: string) => {
    const environment = { DATABASE_URL: databaseUrl }
    const server = await startServer({ project: folder.path, environment })
    t.teardown(server.stop)
    return server
  }
  const server = await start(wire.url)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  return {
    server,
    wire,
    startSecond: () => start(url),
    query: async (text, values = []) =>
      (await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })).rows,
  }
}
