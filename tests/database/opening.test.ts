import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { toDatabaseFault } from '../../core/database/database-fault.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'
import { administer, createDatabase, testServer } from '../harness/test-database.ts'

const NOTES = {
  contentTypes: { note: { attributes: { text: 'string' } } },
  roles: { public: { permissions: { note: ['find', 'create'] } } },
}

const foundIn = (body: unknown): number => (body as { readonly data: readonly unknown[] }).data.length

async function reasonsOf(url: string) {
  const opened = await openDatabase({ ...DATABASE_SETTINGS, url }, { root: tmpdir(), observe: () => {} })
  if (opened.ok) await opened.value.close()
  return opened.ok ? [] : opened.reasons
}

/** A port that was in use a moment ago. */
async function closedPort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  listener.close()
  return typeof address === 'object' && address ? address.port : 1
}

test('a URL of another protocol is refused without printing it', async t => {
  for (const url of ['mysql://root:hunter2@localhost/app', 'hunter2', 'postgres://u:hunter2@[bad/app']) {
    const [reason, ...others] = await reasonsOf(url)
    t.deepEqual(others, [])
    t.is(reason?.kind, 'url')
    t.false(reason?.message.includes('hunter2'))
  }
})

test('an unreachable server is named without its password', async t => {
  const port = await closedPort()
  const [reason] = await reasonsOf(`postgres://guide:hunter2@127.0.0.1:${port}/guide`)
  t.is(reason?.kind, 'unreachable')
  t.regex(reason?.message ?? '', new RegExp(`PostgreSQL at 127.0.0.1:${port} cannot be reached`))
  t.false(reason?.message.includes('hunter2'))
})

test('a connection that the system refuses is an unreachable server, whatever its code', async t => {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  symlinkSync('.s.PGSQL.5432', join(folder.path, '.s.PGSQL.5432'))
  const [reason] = await reasonsOf(`postgres://guide@/guide?host=${folder.path}`)
  t.is(reason?.kind, 'unreachable')
  t.regex(reason?.message ?? '', /connect ELOOP/)
  for (const [code, syscall] of [
    ['EPERM', 'connect'],
    ['EAFNOSUPPORT', 'connect'],
    ['EAI_FAIL', 'getaddrinfo'],
    ['EPIPE', 'write'],
  ])
    t.is(
      toDatabaseFault(Object.assign(new Error(`${syscall} ${code}`), { code, syscall }))?.kind,
      'unavailable',
    )
  t.is(toDatabaseFault(Object.assign(new Error('open EPERM'), { code: 'EPERM', syscall: 'open' })), undefined)
})

test('a server that accepts and never responds is abandoned in bounded time', async t => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close())
  const address = silent.address()
  const port = typeof address === 'object' && address ? address.port : 1
  t.like((await reasonsOf(`postgres://guide@127.0.0.1:${port}/guide`))[0], { kind: 'unreachable' })
})

test('an unreadable certificate is reported as an error in the URL', async t => {
  const [reason] = await reasonsOf('postgres://guide:hunter2@127.0.0.1/guide?sslrootcert=/not/there.pem')
  t.is(reason?.kind, 'url')
  t.regex(reason?.message ?? '', /names a file that cannot be read.*not\/there\.pem/)
  t.false(reason?.message.includes('hunter2'))
})

test('a URL of several servers is refused if it asks for a standby, an unknown state or an invalid host', async t => {
  for (const [url, message] of [
    [
      'postgres://a,b/c?target_session_attrs=standby',
      /target_session_attrs of database\.url asks for servers that take no writes/,
    ],
    ['postgres://a,b/c?target_session_attrs=primry', /is not one of read-write, primary, any/],
    ['postgres://a,b:x/c', /database\.url must be/],
  ] as const) {
    const [reason] = await reasonsOf(url)
    t.is(reason?.kind, 'url', url)
    t.regex(reason?.message ?? '', message)
  }
})

test('if no server of several responds, all of them are named', async t => {
  const [one, other] = [await closedPort(), await closedPort()]
  const [reason] = await reasonsOf(`postgres://guide:hunter2@127.0.0.1:${one},127.0.0.1:${other}/guide`)
  t.is(reason?.kind, 'unreachable')
  t.regex(reason?.message ?? '', new RegExp(`at 127.0.0.1:${one}, 127.0.0.1:${other} cannot be reached`))
  t.false(reason?.message.includes('hunter2'))
})

const server = testServer()

if (server) {
  test('a wrong password is recognised, and not retried', async t => {
    const role = 'plinth_login_test'
    await administer(server, `DROP ROLE IF EXISTS ${role}; CREATE ROLE ${role} LOGIN PASSWORD 'right'`)
    t.teardown(() => administer(server, `DROP ROLE ${role}`))
    const url = new URL(server)
    url.username = role
    url.password = 'right'
    t.deepEqual(await reasonsOf(url.href), [])
    url.password = 'hunter2'
    const [reason] = await reasonsOf(url.href)
    t.is(reason?.kind, 'login')
    t.regex(reason?.message ?? '', /refuses the user plinth_login_test of database.url/)
    t.false(reason?.message.includes('hunter2'))
  })

  test('a missing database is named, with the command that creates it', async t => {
    const url = new URL(server)
    url.pathname = '/plinth_not_there'
    const [reason] = await reasonsOf(url.href)
    t.is(reason?.kind, 'missing')
    t.regex(reason?.message ?? '', /createdb plinth_not_there/)
  })

  test('a database with an encoding other than UTF-8 is refused', async t => {
    const name = `plinth_latin_${process.pid}`
    await administer(server, `CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
    t.teardown(() => administer(server, `DROP DATABASE ${name} WITH (FORCE)`))
    const url = new URL(server)
    url.pathname = `/${name}`
    const [reason] = await reasonsOf(url.href)
    t.is(reason?.kind, 'encoding')
    t.regex(reason?.message ?? '', /LATIN1.*--encoding=UTF8/)
  })

  test('a Turkish database compares texts without case as every other one', async t => {
    const name = `plinth_turkish_${process.pid}`
    const [shown] = await administer(server, 'SHOW server_version_num')
    // Since PostgreSQL 15 a database can have a locale of ICU; the others are those of the operating system.
    const turkish =
      Number(shown?.server_version_num) < 150_000 ? '' : `LOCALE_PROVIDER icu ICU_LOCALE 'tr-TR'`
    await administer(
      server,
      `CREATE DATABASE ${name} ENCODING 'UTF8' ${turkish} LOCALE 'C.UTF-8' TEMPLATE template0`,
    )
    t.teardown(() => administer(server, `DROP DATABASE ${name} WITH (FORCE)`))
    const url = new URL(server)
    url.pathname = `/${name}`
    const app = await openTestApp(t, { project: NOTES as never, database: url.href })
    await app.request('POST', '/api/notes', { body: { data: { text: 'INDEX of Istanbul' } } })
    for (const filter of ['$eqi]=index of ISTANBUL', '$containsi]=istan', '$startsWithi]=index'])
      t.is(
        foundIn((await app.request('GET', `/api/notes?filters[text][${encodeURI(filter)}`)).body),
        1,
        filter,
      )
  })

  test('a server that is too old is refused with its version and the required one', async t => {
    const url = await createDatabase(t, server)
    // A server of today that says of itself what an older one would.
    await administer(
      url,
      `CREATE SCHEMA past;
       CREATE FUNCTION past.current_setting(setting text) RETURNS text LANGUAGE sql AS $$ SELECT CASE setting
         WHEN 'server_version_num' THEN '130023' WHEN 'server_version' THEN '13.23'
         ELSE pg_catalog.current_setting(setting) END $$;
       ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = past, pg_catalog`,
    )
    const [reason, ...others] = await reasonsOf(url)
    t.deepEqual(others, [])
    t.is(reason?.kind, 'tooOld')
    t.regex(
      reason?.message ?? '',
      /needs PostgreSQL 14 or newer; the server of database\.url is PostgreSQL 13\.23/,
    )
  })

  test('defaults of a database do not change what statements mean', async t => {
    const url = await createDatabase(t, server)
    const name = new URL(url).pathname.slice(1)
    for (const value of [
      'extra_float_digits = 0',
      "bytea_output = 'escape'",
      'array_nulls = off',
      'transform_null_equals = on',
      'quote_all_identifiers = on',
      "default_transaction_isolation = 'serializable'",
      "DateStyle = 'German'",
      "TimeZone = 'Asia/Kathmandu'",
      'standard_conforming_strings = off',
    ])
      await administer(url, `ALTER DATABASE ${name} SET ${value}`)
    const opened = await openDatabase({ ...DATABASE_SETTINGS, url }, { root: tmpdir(), observe: () => {} })
    if (!opened.ok) return t.fail()
    t.teardown(() => opened.value.close())
    const values = [0.1 + 0.2, [1, null]]
    const text = `SELECT ($1::float8)::text, ($2::int[])[2] IS NULL, '\\x5c'::bytea::text, (1 = NULL) IS NULL,
      format_type('text'::regtype, NULL), quote_ident('plain'), '2024-02-29T12:00:00Z'::timestamptz::text,
      current_setting('transaction_isolation')`
    const { rows } = await opened.value.transaction(transaction => transaction.run({ text, values }))
    const expected = [
      '0.30000000000000004',
      true,
      String.raw`\x5c`,
      true,
      'text',
      'plain',
      '2024-02-29 12:00:00+00',
    ]
    t.deepEqual(rows, [[...expected, 'read committed']])
  })

  test('a database that ends sessions and transactions by time does not end those of a server', async t => {
    const url = await createDatabase(t, server)
    await administer(
      url,
      `DO $$ DECLARE setting text; BEGIN
         FOR setting IN SELECT name FROM pg_settings WHERE name IN ('idle_session_timeout', 'transaction_timeout') LOOP
           EXECUTE format('ALTER DATABASE %I SET %I = ''5min''', current_database(), setting);
         END LOOP;
       END $$`,
    )
    const opened = await openDatabase({ ...DATABASE_SETTINGS, url }, { root: tmpdir(), observe: () => {} })
    if (!opened.ok) return t.fail()
    const session = await opened.value.openSession()
    t.teardown(async () => {
      await session.close()
      await opened.value.close()
    })
    const ask = {
      text: `SELECT current_setting('idle_session_timeout'), coalesce(current_setting('transaction_timeout', true), '0')`,
      values: [],
    }
    t.deepEqual((await session.run(ask)).rows, [['0', '0']])
    t.deepEqual((await opened.value.run(ask)).rows, [['0', '0']])
  })

  test('reads may use a replica, and use the primary if the replica is unreachable', async t => {
    const url = await createDatabase(t, server)
    const away = `postgres://unknown@127.0.0.1:${await closedPort()}/away`
    const opened = await openDatabase(
      { ...DATABASE_SETTINGS, url, replicas: [url, away] },
      { root: tmpdir(), observe: () => {} },
    )
    if (!opened.ok) return t.fail()
    t.teardown(() => opened.value.close())
    const read = () => opened.value.run({ text: 'SELECT 1', values: [] }, { readonly: true })
    const answers = await Promise.all(Array.from({ length: 6 }, read))
    t.true(answers.every(({ rows }) => rows[0]?.[0] === 1))
    await opened.value.run({ text: 'CREATE TABLE plate (id int)', values: [] })
    t.is(await opened.value.transaction(async () => 'done'), 'done')
  })
}
