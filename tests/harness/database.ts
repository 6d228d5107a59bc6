import { randomBytes } from 'node:crypto'
import pg from 'pg'

export interface FreshDatabase {
  /** For `database.url` of a project. */
  readonly url: string
  drop(): Promise<void>
}

/** An empty database: one of its own on the server that TEST_DATABASE_URL names, else the embedded one. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const server = process.env.TEST_DATABASE_URL
  if (!server) return { url: 'embedded', drop: async () => {} }
  const name = `plinth_test_${randomBytes(6).toString('hex')}`
  await administer(server, `CREATE DATABASE ${name} TEMPLATE template0`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
