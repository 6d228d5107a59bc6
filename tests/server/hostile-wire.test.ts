import test, { type ExecutionContext } from 'ava'
import type { Database } from '../../core/database/database.ts'
import { toDatabaseFault } from '../../core/database/database-fault.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { createDatabase } from '../harness/test-database.ts'
import { type Attack, type HostileWire, message, openHostileWire, refusal } from './hostile-wire.ts'

// Whatever a server, a pooler or a network sends, at whatever moment: no process ends by it, a statement is answered
// rightly or refused as unavailable, and the next one finds a connection.

const add = (bytes: Buffer) => (original: Buffer) => Buffer.concat([original, bytes])
const put = (bytes: Buffer) => (original: Buffer) => Buffer.concat([bytes, original])
const SHUTDOWN = refusal('FATAL', '57P01', 'terminating connection due to administrator command')
const UNKNOWN = refusal('FATAL', 'XX000', 'something else that ends a session')
const int16 = (value: number) => Buffer.from([value >> 8, value & 255])

const ATTACKS: readonly Attack[] = [
  { name: 'a shutdown behind the message, in the same packet', bytes: add(SHUTDOWN), after: 'end' },
  { name: 'a shutdown in its place', bytes: () => SHUTDOWN, after: 'end' },
  { name: 'a shutdown, and a reset', bytes: add(SHUTDOWN), after: 'reset' },
  { name: 'an end of an unusual code', bytes: add(UNKNOWN), after: 'end' },
  { name: 'a reset behind it', bytes: () => null, after: 'reset' },
  { name: 'an end behind it', bytes: () => null, after: 'end' },
  { name: 'half of it, and an end', bytes: whole => whole.subarray(0, whole.length >> 1), after: 'end' },
  { name: 'half of it, and a reset', bytes: whole => whole.subarray(0, whole.length >> 1), after: 'reset' },
  { name: 'a message of an unknown type', bytes: put(message('!', 'what?')), after: 'continue' },
  { name: 'no protocol at all', bytes: () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), after: 'end' },
  { name: 'a length of nothing', bytes: () => Buffer.from('T\0\0\0\0garbage'), after: 'end' },
  { name: 'an endless length', bytes: () => Buffer.from([0x44, 255, 255, 255, 255, 1]), after: 'end' },
  { name: 'a row of fewer than no columns', bytes: put(message('D', int16(0xffff))), after: 'continue' },
  { name: 'a row whose text is cut', bytes: put(message('D', '\0\x01\0\0')), after: 'continue' },
  { name: 'an unrequested row', bytes: put(message('D', '\0\x01\0\0\0\x01x')), after: 'continue' },
  { name: 'the end of a copy', bytes: put(message('c', '')), after: 'continue' },
  { name: 'the beginning of a copy in', bytes: put(message('G', '\0\0\0')), after: 'end' },
  { name: 'the beginning of a copy out', bytes: put(message('H', '\0\0\0')), after: 'end' },
  { name: 'data of a copy', bytes: put(message('d', 'x')), after: 'end' },
  { name: 'a suspended portal', bytes: put(message('s', '')), after: 'end' },
  { name: 'a complete command', bytes: put(message('C', 'SELECT 1\0')), after: 'end' },
  { name: 'a complete parse', bytes: put(message('1', '')), after: 'end' },
  { name: 'a request for a password', bytes: put(message('R', '\0\0\0\x03')), after: 'end' },
  { name: 'a request for a hashed password', bytes: put(message('R', '\0\0\0\x05salt')), after: 'end' },
  { name: 'a request for SASL', bytes: put(message('R', '\0\0\0\x0aSCRAM-SHA-256\0\0')), after: 'end' },
  { name: 'a SASL step too early', bytes: put(message('R', '\0\0\0\x0br=1,s=2,i=3')), after: 'end' },
  { name: 'an end of SASL too early', bytes: put(message('R', '\0\0\0\x0cv=1')), after: 'end' },
  { name: 'an unknown authentication', bytes: put(message('R', '\0\0\0\x63')), after: 'end' },
  { name: 'an error without a code', bytes: put(message('E', 'Mno code\0\0')), after: 'end' },
  { name: 'an empty error', bytes: put(message('E', '\0')), after: 'end' },
]

/** Messages that a well-behaved server may send at any moment. */
const HARMLESS: readonly Attack[] = [
  { name: 'a notice', bytes: put(message('N', 'SWARNING\0C01000\0Mtake note\0\0')), after: 'continue' },
  { name: 'a notification', bytes: put(message('A', '\0\0\0\x01news\0text\0')), after: 'continue' },
  { name: 'a parameter', bytes: put(message('S', 'TimeZone\0UTC\0')), after: 'continue' },
]

const TWO = { text: 'SELECT n, $1::text FROM generate_series(1, 2) AS n', values: ['x'] }
const ROWS = [
  [1, 'x'],
  [2, 'x'],
]

/** A read, a write and a transaction: each answers what it should, or why it was not done. */
async function work(database: Database): Promise<readonly unknown[]> {
  const read = () => database.run(TWO, { readonly: true }).then(({ rows }) => rows)
  const inTransaction = () =>
    database.transaction(async transaction => {
      await transaction.run({ text: 'SELECT 1', values: [] })
      return (await transaction.run(TWO)).rows
    })
  const write = () => database.run(TWO).then(({ rows }) => rows)
  const answers: unknown[] = []
  for (const each of [read, inTransaction, write])
    answers.push(await each().catch((error: unknown) => toDatabaseFault(error)?.kind ?? error))
  return answers
}

interface Arena {
  readonly wire: HostileWire
  readonly database: Database
  /** Ends all connections, so that the next statement opens one. */
  endConnections(): Promise<void>
}

async function openArena(t: ExecutionContext): Promise<Arena> {
  const url = await createDatabase(t, process.env.TEST_DATABASE_URL ?? '')
  const wire = await openHostileWire(t, url)
  const settings = { ...DATABASE_SETTINGS, url: wire.url, pool: { max: 1, idle: 60_000, acquire: 3_000 } }
  const opened = await openDatabase(settings, { root: '', observe: () => {} })
  if (!opened.ok) throw new Error(opened.reasons.map(({ message: text }) => text).join())
  const database = opened.value
  t.teardown(() => database.close())
  const endConnections = async () => {
    const end = { text: 'SELECT pg_terminate_backend(pg_backend_pid())', values: [] }
    await database.run(end).catch(() => undefined)
  }
  return { wire, database, endConnections }
}

const GOOD = [ROWS, ROWS, ROWS]

/** Until no connection gets so far: `judge` each attack at each message of the server. */
async function everyMoment(
  t: ExecutionContext,
  attack: Attack,
  judge: (answers: readonly unknown[], moment: string) => void,
): Promise<void> {
  const arena = await openArena(t)
  // The first connection of all asks for more.
  await arena.endConnections()
  await work(arena.database)
  const before = arena.wire.messages()
  t.true(before.length > 30, before)
  for (let at = 0; at < before.length; at++) {
    // Each of the parameters that a server reports after the login is the same moment.
    if (before[at] === 'S' && before[at - 1] === 'S') continue
    await arena.endConnections()
    arena.wire.attack(attack, at)
    judge(await work(arena.database), `${attack.name} at ${before.slice(0, at)}<${before[at]}>`)
    if (attack.after === 'continue' && attack.bytes(Buffer.alloc(0))) await arena.endConnections()
    t.true(arena.wire.isDone(), `${attack.name} at message ${at} of ${before}`)
    t.deepEqual(await work(arena.database), GOOD, `${attack.name} at message ${at}: the work after it`)
  }
}

for (const attack of ATTACKS)
  test(`${attack.name}: statements fail only as unavailable, and the next one succeeds`, t =>
    everyMoment(t, attack, (answers, moment) => {
      for (const answer of answers) if (answer !== 'unavailable') t.deepEqual(answer, ROWS, moment)
    }))

for (const attack of HARMLESS)
  test(`${attack.name} at any moment has no effect`, t =>
    everyMoment(t, attack, (answers, moment) => t.deepEqual(answers, GOOD, moment)))
