import { existsSync, readFileSync } from 'node:fs'
import pg from 'pg'

/** The processes of PostgreSQL that serve the clients of one database. They have to run on this machine. */
export interface Backends {
  /** Milliseconds of processor time of all that were seen until now. What one does between its last look and its end is not counted. */
  cpu(): Promise<number>
  end(): Promise<void>
}

export async function watchBackends(url: string): Promise<Backends> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const seen = new Map<number, number>()
  return {
    async cpu() {
      const { rows } = await client.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
      )
      for (const { pid } of rows) {
        const spent = spentBy(pid)
        if (spent !== undefined) seen.set(pid, spent)
      }
      return [...seen.values()].reduce((sum, each) => sum + each, 0)
    },
    end: () => client.end(),
  }
}

/** undefined where there is no such process here. */
function spentBy(pid: number): number | undefined {
  const path = `/proc/${pid}/schedstat`
  return existsSync(path) ? Number(readFileSync(path, 'utf8').split(' ')[0]) / 1e6 : undefined
}
