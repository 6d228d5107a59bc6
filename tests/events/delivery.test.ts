import test from 'ava'
import type { DocumentEvent, EventHandler } from '../../core/events/events.ts'
import { listener, openListening, reported, TEST_TIMING, until } from './listening.ts'

test('an event is retried for a listener that failed, and for no other listener', async t => {
  const heard: DocumentEvent[] = []
  const others: DocumentEvent[] = []
  const handle: EventHandler = event => {
    heard.push(event)
    if (heard.length < 3) throw new Error('not yet')
  }
  const room = await openListening(t, [
    listener('note.create', handle, 'one'),
    listener('note.create', event => void others.push(event), 'two'),
  ])
  room.events.start()
  await room.create('note', { text: 'x' })
  await until(async () => (await room.left()).length === 0)
  t.is(heard.length, 3)
  t.is(new Set(heard.map(event => event.id)).size, 1)
  t.is(others.length, 1)
  t.is(room.notes.count('eventPostponed'), 2)
  t.like(room.notes.seen[0], { name: 'note.create', listener: 'one note.create', attempts: 1, delay: 25 })
  t.is(room.notes.count('eventFailed'), 0)
})

test('an event that fails too often is stored as failed with its last error, and logged', async t => {
  let attempts = 0
  const room = await openListening(t, [
    listener('note.create', async () => {
      throw new Error(`broken ${++attempts}`)
    }),
  ])
  room.events.start()
  await room.create('note', { text: 'x' })
  await until(() => room.notes.count('eventFailed') === 1)
  await room.events.settled()
  t.is(attempts, 3)
  t.deepEqual(await room.left(), [['test note.create', 'create', 'failed', 3, 'broken 3']])
  t.like(room.notes.seen.at(-1), { kind: 'eventFailed', name: 'note.create', attempts: 3 })
})

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const unreadable = () =>
  Object.defineProperty(new Error('hidden'), 'message', {
    get: () => {
      throw new Error('no message')
    },
  })

const THROWN: readonly (readonly [thrown: unknown, reason: RegExp])[] = [
  [Object.create(null), /^an object without keys, which is no error/],
  [{ code: 1, toString: () => Number('no') }, /^an object with the keys code, toString, which is no error/],
  [Object.assign(new Error('text'), { message: 42 }), /^42$/],
  [unreadable(), /^an object that cannot be read, which is no error/],
  [revoked(), /^an object that cannot be read, which is no error/],
  ['a text', /^a text, which is no error/],
  [undefined, /^undefined, which is no error/],
  [Symbol('sign'), /^Symbol\(sign\), which is no error/],
  [new Error('zero \0 half \ud800'), /^zero {2}half \ufffd$/],
]

test('whatever a listener throws, its event is retried, and stored as failed with a reason', async t => {
  const attempts: number[] = []
  const room = await openListening(t, [
    listener('note.create', async ({ documentId }) => {
      const at = documents.indexOf(documentId)
      attempts[at] = (attempts[at] ?? 0) + 1
      throw THROWN[at]?.[0]
    }),
  ])
  const documents: string[] = []
  for (const at of THROWN.keys())
    documents.push(String((await room.create('note', { text: String(at) })).documentId))
  room.events.start()
  await until(() => room.notes.count('eventFailed') === THROWN.length)
  await room.events.settled()
  t.deepEqual(
    attempts,
    THROWN.map(() => 3),
  )
  t.is(room.notes.count('eventsStalled'), 0)
  for (const [at, row] of (await room.left()).entries())
    t.regex(String(row.at(-1)), THROWN[at]?.[1] ?? /never/)
})

test('events of one document are delivered in order despite retries, without delaying other documents', async t => {
  const heard: string[] = []
  let fails = 2
  const room = await openListening(t, [
    listener('note.*', ({ documentId, action }) => {
      if (documentId === first && action === 'create' && fails-- > 0) throw new Error('not yet')
      heard.push(`${documentId === first ? 'first' : 'second'} ${action}`)
    }),
  ])
  const first = String((await room.create('note', { text: 'a' })).documentId)
  await room.update('note', first, { text: 'b' })
  await room.remove('note', first)
  await room.create('note', { text: 'c' })
  room.events.start()
  await until(() => heard.length === 4)
  t.deepEqual(heard, ['second create', 'first create', 'first update', 'first delete'])
})

test('many events that wait for an earlier one of their document do not delay other documents, and keep their order', async t => {
  const BACKLOG = 700
  const heard: string[] = []
  let fails = true
  const handle: EventHandler = ({ id, documentId }) => {
    if (documentId === first && fails) throw new Error('not yet')
    heard.push(documentId === first ? id : 'second')
  }
  const room = await openListening(t, [listener('note.*', handle)], { maxAttempts: 1_000_000 })
  const first = String((await room.create('note', { text: 'a' })).documentId)
  await room.database.run({
    text: `INSERT INTO plinth_outbox (listener, content_type, document_id, action, written_at, due_at, state, attempts)
      SELECT listener, content_type, document_id, 'update', written_at, due_at, state, 0
      FROM plinth_outbox, generate_series(1, ${BACKLOG})`,
    values: [],
  })
  room.events.start()
  await until(() => room.notes.count('eventPostponed') > 0)
  await room.create('note', { text: 'b' })
  await until(() => heard.includes('second'))
  t.deepEqual(heard, ['second'])
  const due = 'SELECT count(*) FROM plinth_outbox WHERE attempts = 0 AND due_at <= now()'
  await until(async () => (await room.rows(due))[0]?.[0] === 0)
  fails = false
  // The next retry may be far away.
  await room.database.run({ text: 'UPDATE plinth_outbox SET due_at = now() WHERE attempts > 0', values: [] })
  await until(async () => (await room.left()).length === 0)
  const ids = [...new Set(heard.slice(1))].map(Number)
  t.is(ids.length, BACKLOG + 1)
  t.deepEqual(
    ids,
    ids.toSorted((one, other) => one - other),
  )
})

test('an event behind one that a process of an older version has claimed waits no longer than that claim lasts', async t => {
  const heard: string[] = []
  const room = await openListening(t, [listener('note.*', ({ action }) => void heard.push(action))])
  const { documentId } = await room.create('note', { text: 'a' })
  await room.update('note', documentId, { text: 'b' })
  const claim = `UPDATE plinth_outbox SET attempts = 1, due_at = now() + interval '1 minute' WHERE action = 'create'`
  await room.database.run({ text: claim, values: [] })
  room.events.start()
  const due = (order: string) => `(SELECT due_at FROM plinth_outbox ORDER BY id ${order} LIMIT 1)`
  await until(async () => (await room.rows(`SELECT ${due('DESC')} > now()`))[0]?.[0] === true)
  t.deepEqual(await room.rows(`SELECT ${due('DESC')} = ${due('ASC')}`), [[true]])
  // The claim expires, and the older process has ended the event meanwhile.
  await room.database.run({ text: `DELETE FROM plinth_outbox WHERE action = 'create'`, values: [] })
  await room.database.run({ text: 'UPDATE plinth_outbox SET due_at = now()', values: [] })
  await until(() => heard.length === 1)
  t.deepEqual(heard, ['update'])
})

test('an event that failed permanently does not block later events', async t => {
  const heard: string[] = []
  const room = await openListening(t, [
    listener('note.*', ({ action }) => {
      if (action === 'create') throw new Error('never')
      heard.push(action)
    }),
  ])
  room.events.start()
  const { documentId } = await room.create('note', { text: 'a' })
  await room.update('note', documentId, { text: 'b' })
  await until(() => heard.length === 1)
  t.deepEqual(heard, ['update'])
  t.is(room.notes.count('eventFailed'), 1)
})

test('a listener that hangs is aborted at its timeout, and does not block other listeners', async t => {
  const heard: string[] = []
  const signals: AbortSignal[] = []
  const hang: EventHandler = (_, { signal }) => {
    signals.push(signal)
    return signals.length === 1 ? new Promise(() => {}) : heard.push('hung once')
  }
  const room = await openListening(
    t,
    [listener('note.create', hang, 'one'), listener('note.create', () => heard.push('other'), 'two')],
    { timeout: 300 },
  )
  room.events.start()
  await room.create('note', { text: 'x' })
  await until(() => heard.length === 2)
  t.deepEqual(heard, ['other', 'hung once'])
  t.true(signals[0]?.aborted)
  t.is(room.notes.count('eventPostponed'), 1)
  await room.events.settled()
  t.deepEqual(await room.left(), [])
})

test('several processes share the events of a listener, without duplicates', async t => {
  const heard: string[] = []
  const handle: EventHandler = async ({ id }) => {
    await new Promise(resolve => setTimeout(resolve, 2))
    heard.push(id)
  }
  const room = await openListening(t, [listener('note.*', handle)], { pollInterval: 200 })
  const all = [room.events, ...[1, 2, 3].map(() => room.openAnother([listener('note.*', handle)]))]
  for (const events of all) events.start()
  const write = async (text: string) => {
    const { documentId } = await room.create('note', { text })
    await room.update('note', documentId, { text: `${text}!` })
  }
  // The embedded database has one connection, so statements of both processes are serialised.
  await Promise.all(
    ['a', 'b'].map(async row => {
      for (let at = 0; at < 5; at++) await write(`${row}${at}`)
    }),
  )
  await until(async () => (await room.left()).length === 0)
  t.is(heard.length, 20)
  t.is(new Set(heard).size, heard.length)
  t.is(room.notes.count('eventPostponed'), 0)
})

test('events for a listener of another process are kept, and a start reports events without a listener', async t => {
  const heard: string[] = []
  const room = await openListening(t, [listener('note.create', () => {}, 'renamed')])
  await room.create('note', { text: 'x' })
  const other = room.openAnother([listener('note.create', () => heard.push('other'), 'new')])
  other.start()
  await until(() => room.notes.count('eventsUnheard') === 1)
  await other.settled()
  t.deepEqual(heard, [])
  t.like(room.notes.seen[0], { kind: 'eventsUnheard', listener: 'renamed note.create', events: 1 })
  t.deepEqual(await room.left(), [['renamed note.create', 'create', 'waiting', 0, null]])
})

test('a listener may write, which causes more events', async t => {
  const lines: string[] = []
  const room = await openListening(t, [
    listener('note.*', ({ name }) => room.create('audit', { line: name }), 'audit'),
    listener('audit.create', ({ name }) => lines.push(name), 'watch'),
  ])
  room.events.start()
  const { documentId } = await room.create('note', { text: 'x' })
  await room.remove('note', documentId)
  await room.events.settled()
  t.deepEqual(await room.rows('SELECT line FROM audits ORDER BY id'), [['note.create'], ['note.delete']])
  t.deepEqual(lines, ['audit.create', 'audit.create'])
})

test('shutdown waits for listeners up to a limit, and releases their events', async t => {
  const heard: string[] = []
  const ended: unknown[] = []
  const room = await openListening(t, [
    listener('note.create', async (_, { signal }) => {
      heard.push('begun')
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      }).catch(reason => ended.push(reason))
      throw new Error('cut')
    }),
  ])
  room.events.start()
  await room.create('note', { text: 'x' })
  await until(() => heard.length === 1)
  await room.events.close()
  t.is(ended.length, 1)
  t.deepEqual(await room.left(), [['test note.create', 'create', 'waiting', 0, null]])
  const next = room.openAnother([listener('note.create', () => heard.push('again'))])
  next.start()
  await until(() => heard.length === 2)
  t.deepEqual(heard, ['begun', 'again'])
})

test('shutdown lets running listeners finish within the limit', async t => {
  let isFinished = false
  let begin: () => void = () => {}
  const begun = new Promise<void>(resolve => {
    begin = resolve
  })
  const room = await openListening(
    t,
    [
      listener('note.create', async () => {
        begin()
        await new Promise(resolve => setTimeout(resolve, 50))
        isFinished = true
      }),
    ],
    { drainTimeout: 30_000 },
  )
  room.events.start()
  await room.create('note', { text: 'x' })
  await begun
  await room.events.close()
  t.true(isFinished)
  t.deepEqual(await room.left(), [])
})

test('an event whose end cannot be stored is not delivered again', async t => {
  let count = 0
  const room = await openListening(t, [listener('note.create', () => void count++)])
  const run = (text: string) => room.database.run({ text, values: [] })
  await run(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''away''; END'`,
  )
  await run('CREATE TRIGGER refuse BEFORE DELETE ON plinth_outbox FOR EACH ROW EXECUTE FUNCTION refuse()')
  room.events.start()
  await room.create('note', { text: 'x' })
  await until(() => room.notes.count('eventsStalled') > 0)
  await run('DROP TRIGGER refuse ON plinth_outbox')
  await until(async () => (await room.left()).length === 0)
  t.is(count, 1)
})

test('an outage of the outbox is reported once, and events are delivered afterwards', async t => {
  const heard: string[] = []
  const room = await openListening(t, [listener('note.create', () => heard.push('heard'))])
  await room.create('note', { text: 'x' })
  await room.rows('ALTER TABLE plinth_outbox RENAME TO away')
  room.events.start()
  await new Promise(resolve => setTimeout(resolve, (TEST_TIMING.pollInterval ?? 0) * 6))
  t.deepEqual(heard, [])
  t.is(room.notes.count('eventsStalled'), 1)
  await room.rows('ALTER TABLE away RENAME TO plinth_outbox')
  await until(() => heard.length === 1)
  t.pass()
})

test('events whose origin was changed by hand are delivered, and those after them', async t => {
  const heard: string[] = []
  const room = await openListening(t, [listener('note.create', event => void heard.push(reported(event)))])
  for (const [index, origin] of ['null', '7', '{}', '{"by":7,"attributes":[]}'].entries()) {
    await room.create('note', { text: `x${index}` })
    await room.rows(
      `UPDATE plinth_outbox SET origin = '${origin}' WHERE id = (SELECT max(id) FROM plinth_outbox)`,
    )
  }
  await room.create('note', { text: 'last' })
  room.events.start()
  await until(() => heard.length === 5)
  t.deepEqual(new Set(heard), new Set(['note.create']))
})

test("events written before the database's clock was set back are delivered at once", async t => {
  const heard: string[] = []
  const room = await openListening(t, [listener('note.create', event => void heard.push(reported(event)))])
  await room.create('note', { text: 'x' })
  await room.rows("UPDATE plinth_outbox SET due_at = due_at + interval '3 hours'")
  room.events.start()
  await until(() => heard.length === 1)
  t.deepEqual(heard, ['note.create'])
})
