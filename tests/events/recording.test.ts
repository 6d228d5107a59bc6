import test from 'ava'
import type { DocumentEvent } from '../../core/events/events.ts'
import { listener, openListening, reported } from './listening.ts'

test('a listener receives action, version and time after the commit', async t => {
  const heard: DocumentEvent[] = []
  const found: unknown[] = []
  const room = await openListening(t, [
    listener('article.create', async event => {
      heard.push(event)
      found.push(await room.find('article', event.documentId, { status: 'draft' }))
    }),
  ])
  room.events.start()
  const before = Date.now()
  const article = await room.create('article', { title: 'x' }, { status: 'draft' })
  await room.events.settled()
  const [event, ...others] = heard
  t.deepEqual(others, [])
  t.like(event, {
    name: 'article.create',
    uid: 'api::article.article',
    documentId: String(article.documentId),
    locale: null,
    action: 'create',
  })
  t.true(Math.abs((event?.at.getTime() ?? 0) - before) < 60_000)
  t.like(found[0], { title: 'x' })
  t.deepEqual(await room.left(), [])
})

test('every kind of write causes one event per changed version', async t => {
  const heard: string[] = []
  const room = await openListening(t, [listener('*.*', event => void heard.push(reported(event)))])
  room.events.start()
  const after = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
    heard.length = 0
    await work()
    await room.events.settled()
    return heard.toSorted()
  }
  const draft = { status: 'draft' } as const
  const fr = { locale: 'fr', status: 'draft' } as const
  const all = { all: true } as const
  let id: unknown
  const create = async () => {
    id = (await room.create('page', { title: 'x' })).documentId
  }
  t.deepEqual(await after(create), ['page.create en', 'page.publish en'])
  t.deepEqual(await after(() => room.update('page', id, { title: 'y' }, fr)), ['page.create fr'])
  t.deepEqual(await after(() => room.update('page', id, { title: 'z' }, fr)), ['page.update fr'])
  t.deepEqual(await after(() => room.update('page', id, { title: 'z' })), [
    'page.publish en',
    'page.update en',
  ])
  t.deepEqual(await after(() => room.change('publish', 'page', id, all)), [
    'page.publish en',
    'page.publish fr',
  ])
  t.deepEqual(await after(() => room.change('unpublish', 'page', id, { locale: 'fr' })), [
    'page.unpublish fr',
  ])
  t.deepEqual(await after(() => room.change('unpublish', 'page', id, all)), ['page.unpublish en'])
  t.deepEqual(await after(() => room.change('discardDraft', 'page', id, all)), [])
  t.deepEqual(await after(() => room.remove('page', id, all)), ['page.delete en', 'page.delete fr'])
  t.deepEqual(await after(() => room.remove('page', id, all)), [])
  t.deepEqual(await after(() => room.create('note', { text: 'x' })), ['note.create'])
  t.deepEqual(await after(() => room.create('article', { title: 'x' }, draft)), ['article.create'])
})

test('a refused write causes no event', async t => {
  const heard: DocumentEvent[] = []
  const room = await openListening(t, [listener('*.*', event => void heard.push(event))])
  room.events.start()
  await room.create('note', { text: 'taken' })
  await room.events.settled()
  heard.length = 0
  t.false((await room.tryCreate('note', { text: 'taken' })).ok)
  t.false((await room.tryUpdate('note', 'nowhere', { text: 'x' })).ok)
  await room.events.settled()
  t.deepEqual(heard, [])
})

test('a write without listeners runs no additional statement, and with any number of listeners one', async t => {
  const counted = async (patterns: readonly Parameters<typeof listener>[0][]) => {
    const room = await openListening(
      t,
      patterns.map((pattern, at) => listener(pattern, () => {}, `x${at}`)),
    )
    const { documentId } = await room.create('page', { title: 'x' }, { status: 'draft' })
    await room.update('page', documentId, { title: 'y' }, { status: 'draft', locale: 'fr' })
    room.statements.length = 0
    await room.change('publish', 'page', documentId, { all: true })
    return room.statements.length
  }
  const none = await counted([])
  t.is(await counted(['page.unpublish', 'article.*']), none)
  t.is(await counted(['page.publish', 'page.*', '*.publish', '*.*']), none + 1)
})

test('an outbox row names the version, the writer and the attributes, and holds no values', async t => {
  const room = await openListening(t, [listener('note.*', () => {})])
  const { documentId } = await room.create('note', { text: 'confidential' })
  const [row] = await room.rows('SELECT row_to_json(o)::text FROM plinth_outbox o')
  const { id, written_at, due_at, ...said } = JSON.parse(String(row?.[0]))
  t.deepEqual(said, {
    listener: 'test note.*',
    content_type: 'api::note.note',
    document_id: documentId,
    locale: null,
    action: 'create',
    origin: { by: null, attributes: ['text'] },
    state: 'waiting',
    attempts: 0,
    last_error: null,
  })
})
