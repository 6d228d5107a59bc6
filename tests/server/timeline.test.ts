import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import type { Database } from '../../core/database/database.ts'
import { toDatabaseFault } from '../../core/database/database-fault.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { openProxy } from '../harness/proxy.ts'
import { createDatabase } from '../harness/test-database.ts'
import { message, refusal } from './hostile-wire.ts'

// A former primary that was paused and resumed accepts connections and would answer with old data. Its timeline is
// smaller than that of the promoted server. The server of the tests is on timeline 1; the proxy lets it report 2.

const READ = { text: 'SELECT 1', values: [] }
const PROMOTED = '00000002'
const READY = message('Z', 'I')

/** The answer to one timeline statement instead of the server's. */
interface Reply {
  readonly name: string
  readonly bytes: Buffer
  readonly ends: boolean
}

/** ErrorResponse of severity ERROR leaves the session open, FATAL ends it (PostgreSQL manual, 55.2.3). */
const replyOf = (severity: 'ERROR' | 'FATAL', code: string): Reply => {
  const bytes = refusal(severity, code, 'an error of one statement')
  const ends = severity === 'FATAL'
  return { name: `${severity} ${code}`, bytes: ends ? bytes : Buffer.concat([bytes, READY]), ends }
}

interface Cluster {
  readonly database: Database
  /** Answers of the next timeline statements, in order; after them the server answers itself. */
  readonly replies: Reply[]
  /** A promoted standby of the server of the tests. */
  readonly promoted: Reply
  /** Ends the connection, so that the next statement opens one. */
  disconnect(): void
}

async function openCluster(t: ExecutionContext, system?: string): Promise<Cluster> {
  const url = await createDatabase(t, process.env.TEST_DATABASE_URL ?? '')
  const promoted = historyOf(system ?? (await systemOf(url)), PROMOTED)
  const replies: Reply[] = [promoted]
  const proxy = await openProxy(t, url, {
    forward: (client, server) => {
      client.on('data', part => {
        const reply = part.includes('pg_walfile_name') ? replies.shift() : undefined
        if (!reply) server.write(part)
        else if (reply.ends) client.end(reply.bytes)
        else client.write(reply.bytes)
      })
      server.on('data', part => client.write(part))
    },
  })
  const settings = { ...DATABASE_SETTINGS, url: proxy.url, pool: { max: 1, idle: 60_000, acquire: 2_000 } }
  const opened = await openDatabase(settings, { root: '', observe: () => {} })
  if (!opened.ok) throw new Error(opened.reasons.map(({ message: text }) => text).join())
  t.teardown(() => opened.value.close())
  return { database: opened.value, replies, promoted, disconnect: proxy.disconnect }
}

async function systemOf(url: string): Promise<string> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query('SELECT system_identifier::text AS system FROM pg_control_system()')
  await client.end()
  return rows[0]?.system
}

/** RowDescription of two text columns, one DataRow, CommandComplete, ReadyForQuery. */
function historyOf(system: string, timeline: string): Reply {
  const column = Buffer.alloc(18)
  column.writeUInt32BE(25, 6)
  column.writeInt16BE(-1, 10)
  column.writeInt32BE(-1, 12)
  const columns = ['left\0', 'system_identifier\0'].flatMap(name => [Buffer.from(name), column])
  const cells = [timeline, system].flatMap(text => [Buffer.from([0, 0, 0, text.length]), Buffer.from(text)])
  const two = Buffer.from([0, 2])
  const bytes = [
    message('T', Buffer.concat([two, ...columns])),
    message('D', Buffer.concat([two, ...cells])),
    message('C', 'SELECT 1\0'),
    READY,
  ]
  return { name: `timeline ${timeline} of ${system}`, bytes: Buffer.concat(bytes), ends: false }
}

const answerOf = (database: Database): Promise<unknown> =>
  database.run(READ, { readonly: true }).then(
    ({ rows }) => rows,
    (error: unknown) => toDatabaseFault(error)?.kind ?? error,
  )

/** SQLSTATEs of a shutdown, a start, a demotion to standby, a cancelled statement, and a lack of memory. */
const PASSING = ['57P01', '57P02', '57P03', '55000', '57014', '53200', 'XX000']

const LOST_CONNECTION: Reply = { name: 'a lost connection', bytes: Buffer.alloc(0), ends: true }

const FAULTS = [LOST_CONNECTION, ...PASSING.flatMap(code => [replyOf('ERROR', code), replyOf('FATAL', code)])]

for (const reply of FAULTS)
  test(`a former primary is refused, even after the timeline statement ended with ${reply.name}`, async t => {
    const { database, replies, promoted, disconnect } = await openCluster(t)
    t.deepEqual(await answerOf(database), [[1]])
    t.deepEqual(replies, [])
    replies.push(reply)
    disconnect()
    t.not(await answerOf(database), undefined)
    t.deepEqual(replies, [], 'the fault took place')
    disconnect()
    t.is(await answerOf(database), 'unavailable')
    replies.push(promoted)
    t.deepEqual(await answerOf(database), [[1]], 'the promoted server is accepted again')
  })

test.serial('a former primary is refused for as long as the process runs', async t => {
  const { database, replies, promoted, disconnect } = await openCluster(t)
  t.deepEqual(await answerOf(database), [[1]])
  disconnect()
  const now = performance.now.bind(performance)
  t.teardown(() => {
    performance.now = now
  })
  performance.now = () => now() + 86_400_000
  t.is(await answerOf(database), 'unavailable')
  t.is(await answerOf(database), 'unavailable')
  replies.push(promoted)
  t.deepEqual(await answerOf(database), [[1]])
})

test('a server of another system, after pg_upgrade for example, is accepted on any timeline', async t => {
  const { database, replies, promoted, disconnect } = await openCluster(t, '7000000000000000001')
  t.deepEqual(await answerOf(database), [[1]])
  disconnect()
  t.deepEqual(await answerOf(database), [[1]])
  t.deepEqual(replies, [])
  replies.push(promoted)
  disconnect()
  t.deepEqual(await answerOf(database), [[1]])
})

for (const code of ['0A000', '42501', '42883'])
  test(`a service that answers the timeline statement with ${code} is used without timelines`, async t => {
    const { database, replies, disconnect } = await openCluster(t)
    replies.push(replyOf('ERROR', code))
    disconnect()
    t.deepEqual(await answerOf(database), [[1]])
    replies.push(replyOf('FATAL', '57P01'))
    disconnect()
    t.deepEqual(await answerOf(database), [[1]])
    t.is(replies.length, 1, 'the statement is not sent again')
  })
