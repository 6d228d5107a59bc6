import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../harness/free-port.ts'
import { until } from '../harness/until.ts'
import { answers } from './cluster.ts'
import { ownFolder, startOwn, type Test } from './own-process.ts'

/** A PgBouncer before a server; answers its URL for a database of that. It ends with the test. */
export async function startPooler(
  t: Test,
  to: string,
  settings: readonly string[],
  role = 'postgres',
): Promise<string> {
  const { PGBOUNCER } = process.env
  if (!PGBOUNCER) throw new Error('PGBOUNCER does not name PgBouncer’s program')
  const folder = ownFolder(t)
  const port = await freePort()
  const target = new URL(to)
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    [
      '[databases]',
      `* = host=${target.hostname} port=${target.port} user=${role}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      ...settings,
      '',
    ].join('\n'),
  )
  startOwn(t, PGBOUNCER, ['pgbouncer.ini'], folder)
  target.host = `127.0.0.1:${port}`
  await until('PgBouncer answers', () => answers(target.href))
  return target.href
}
