import test from 'ava'
import type { Body } from './reading-room.ts'
import { answered, openWritingRoom, reported, type WritingRoom } from './writing-room.ts'

let room: WritingRoom
test.before(async () => {
  room = await openWritingRoom()
})
test.after.always(() => room?.close())

test('a document is created, updated in part and deleted', async t => {
  const made = await room.send('POST', '/api/articles?populate=author', { title: 'One', price: 3 })
  t.is(made.status, 201)
  t.is(made.headers.get('location'), null)
  const { documentId } = made.body.data as Body
  t.regex(String(documentId), /^[a-z][a-z0-9]{23}$/)
  t.deepEqual(Object.keys(made.body), ['data', 'meta'])
  const address = `/api/articles/${String(documentId)}`
  const changed = await room.send('PUT', address, { title: 'Two' })
  t.deepEqual([changed.status, answered(changed, 'title'), answered(changed, 'price')], [200, 'Two', 3])
  const v4 = await room.send(
    'PUT',
    `${address}?fields=title`,
    {},
    { headers: { 'strapi-response-format': 'v4' } },
  )
  t.deepEqual((v4.body.data as Body).attributes, { title: 'Two' })
  t.is(reported(await room.send('DELETE', address)), '204')
  t.is(reported(await room.send('GET', address)), '404 Not Found')
  t.is(reported(await room.send('DELETE', address)), '204')
  t.is(reported(await room.send('PUT', address, {})), '404 Not Found')
})

test('status is published or draft, and a draft cannot be deleted alone', async t => {
  const id = await room.make('/api/articles?status=draft', { price: 1 })
  t.is(reported(await room.send('GET', `/api/articles/${id}`)), '404 Not Found')
  const refused = '400 Invalid value for status: expected published or draft'
  for (const status of ['', 'Draft', 'x', 'draft&status=draft']) {
    t.is(reported(await room.send('POST', `/api/articles?status=${status}`, { title: 'x' })), refused, status)
    t.is(reported(await room.send('PUT', `/api/articles/${id}?status=${status}`, {})), refused, status)
    t.is(reported(await room.send('DELETE', `/api/articles/${id}?status=${status}`)), refused, status)
  }
  t.regex(
    reported(await room.send('DELETE', `/api/articles/${id}?status=draft`)),
    /^400 The draft of a document/,
  )
  t.is(reported(await room.send('GET', `/api/articles/${id}?status=draft`)), '200')
})

test('a write applies to one locale of the project', async t => {
  const id = await room.make('/api/articles?locale=fr', { title: 'Un' })
  t.is(reported(await room.send('GET', `/api/articles/${id}`)), '404 Not Found')
  const unknown = '400 Unknown locale de: the locales are en, fr'
  t.is(reported(await room.send('POST', '/api/articles?locale=de', { title: 'x' })), unknown)
  t.is(reported(await room.send('PUT', `/api/articles/${id}?locale=de`, { title: 'x' })), unknown)
  t.is(reported(await room.send('DELETE', `/api/articles/${id}?locale=de`)), unknown)
  t.regex(
    reported(await room.send('PUT', `/api/articles/${id}?locale=*`, {})),
    /^400 Invalid locale param \*/,
  )
  t.regex(
    reported(await room.send('POST', '/api/articles?locale[]=en&locale[]=fr', {})),
    /^400 Invalid locale param en,fr/,
  )
  t.is(answered(await room.send('PUT', `/api/articles/${id}?locale=en`, { title: 'One' }), 'locale'), 'en')
  t.is(reported(await room.send('DELETE', `/api/articles/${id}?locale=*`)), '204')
  t.is(reported(await room.send('GET', `/api/articles/${id}?locale=fr`)), '404 Not Found')
})

test('the query is checked before the body, and a refused query writes nothing', async t => {
  for (const query of ['populate=nothing', 'fields=nothing', 'filters[nothing]=1', 'sort=nothing'])
    t.regex(reported(await room.send('POST', `/api/articles?${query}`)), /^400 Invalid key nothing/, query)
  const code = 'not-written'
  await room.send('POST', '/api/vaults?populate=nothing', { code })
  t.deepEqual((await room.send('GET', `/api/vaults?filters[code]=${code}`)).body.data, [])
  t.is(reported(await room.send('POST', '/api/articles?filters[title]=other', { title: 'x' })), '201')
  t.regex(reported(await room.send('DELETE', '/api/articles/x?fields=nothing')), /^400 Invalid key nothing/)
})

test('a caller without write permission is refused for any body', async t => {
  const anonymous = { as: null }
  t.is(reported(await room.send('POST', '/api/articles?fields=nothing', 5, anonymous)), '403 Forbidden')
  t.is(reported(await room.send('DELETE', '/api/articles/x', undefined, anonymous)), '403 Forbidden')
  t.is(reported(await room.send('POST', '/api/vaults', { code: 'a' }, anonymous)), '201')
  t.is(reported(await room.send('PUT', '/api/vaults/x', { code: 'a' }, anonymous)), '403 Forbidden')
  t.is(
    reported(await room.send('POST', '/api/vaults', { article: null }, anonymous)),
    '400 Invalid key article',
  )
})

test('a caller who may not publish changes only drafts', async t => {
  const drafter = { as: 'drafter' } as const
  t.is(reported(await room.send('POST', '/api/articles', { title: 'x' }, drafter)), '403 Forbidden')
  const id = await room.make('/api/articles?status=draft', { title: 'Draft' }, drafter)
  t.is(reported(await room.send('PUT', `/api/articles/${id}`, {}, drafter)), '403 Forbidden')
  t.is(
    answered(await room.send('PUT', `/api/articles/${id}?status=draft`, { title: 'D' }, drafter), 'title'),
    'D',
  )
})

test('a permission restricts the attributes, values and documents that may be written', async t => {
  const clerk = { as: 'clerk' } as const
  t.is(
    reported(await room.send('POST', '/api/articles', { title: 'Ok', price: 1 }, clerk)),
    '400 Invalid key price',
  )
  t.is(reported(await room.send('POST', '/api/articles', { title: 'No' }, clerk)), '403 Forbidden')
  const made = await room.send('POST', '/api/articles', { title: 'Ok', stage: 'mine' }, clerk)
  t.deepEqual([answered(made, 'stage'), answered(made, 'price')], ['new', undefined])
  const address = `/api/articles/${String(answered(made, 'documentId'))}`
  t.is(reported(await room.send('PUT', address, { stage: 'old' }, clerk)), '403 Forbidden')
  t.is(answered(await room.send('GET', address), 'stage'), 'new', 'nothing was written')
  t.is(reported(await room.send('PUT', address, { stage: 'old' })), '200')
  t.is(reported(await room.send('PUT', address, { title: 'x' }, clerk)), '403 Forbidden')
  t.is(reported(await room.send('DELETE', address, undefined, clerk)), '403 Forbidden')
  t.is(reported(await room.send('GET', address)), '200')
})

test('a hidden document cannot be linked, and is indistinguishable from a missing one', async t => {
  const clerk = { as: 'clerk' } as const
  const shown = await room.make('/api/people', { name: 'Shown', public: true })
  const hidden = await room.make('/api/people', { name: 'Hidden', public: false })
  const absent = 'a'.repeat(24)
  const post = (readers: unknown) => room.send('POST', '/api/articles', { title: 'Ok', readers }, clerk)
  t.is(reported(await post([shown])), '201')
  for (const readers of [
    (id: string) => [id],
    (id: string) => ({ connect: [id] }),
    (id: string) => ({ disconnect: [id] }),
    (id: string) => ({ connect: [{ documentId: shown, position: { before: id } }] }),
  ]) {
    const [of, none] = [await post(readers(hidden)), await post(readers(absent))]
    t.is(reported(of).replaceAll(hidden, '<id>'), reported(none).replaceAll(absent, '<id>'))
    t.is(of.status, 400)
  }
})

test('values that callers may not set are refused or ignored, also in components', async t => {
  for (const key of ['id', 'documentId', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'localizations'])
    t.is(
      reported(await room.send('POST', '/api/articles', { title: 'x', [key]: 1 })),
      `400 Invalid key ${key}`,
    )
  const note = { text: 'x', nothing: 1 }
  t.is(
    reported(await room.send('POST', '/api/articles', { title: 'x', note })),
    '400 Invalid key nothing at note',
  )
  const made = await room.send('POST', '/api/articles', { title: 'x', publishedAt: null, locale: 'fr' })
  t.is(answered(made, 'locale'), 'en')
  t.not(answered(made, 'publishedAt'), null)
  const ann = await room.send('POST', '/api/people', { name: 'Ann', secret: 's' })
  t.is(ann.status, 201)
  t.false('secret' in (ann.body.data as Body))
})

test('the size of a body is limited', async t => {
  const long = await room.send('POST', '/api/people', { name: 'x'.repeat(300_000) })
  t.is(reported(long), '413 request entity too large')
  let deep: unknown = 'x'
  for (let level = 0; level < 200; level++) deep = [deep]
  t.is(
    reported(await room.send('POST', '/api/people', { name: deep })),
    '400 A body may be at most 100 levels deep',
  )
})

test('a zone entry of another document is refused as unknown, and nothing else is revealed', async t => {
  const id = await room.make('/api/articles', { title: 'Zone' })
  const foreign = { pieces: [{ __component: 'parts.note', id: 999_999, text: 'x' }] }
  const answer = await room.send('PUT', `/api/articles/${id}`, foreign)
  const message = 'Some of the provided components in pieces are not related to the entity'
  t.deepEqual(answer.body, { data: null, error: { status: 400, name: 'Error', message } })
})

test('zone entries are returned to callers who may not see their link targets', async t => {
  const by = await room.make('/api/people', { name: 'Ada' })
  const id = await room.make('/api/articles', {
    title: 'Led',
    pieces: [{ __component: 'parts.note', text: 'x', by }],
  })
  const pieces = async (as: 'full' | 'drafter') => {
    const { body } = await room.send('GET', `/api/articles/${id}?populate=pieces.by`, undefined, { as })
    return ((body.data as Body).pieces as Body[]).map(piece => Object.keys(piece))
  }
  t.deepEqual(await pieces('full'), [['__component', 'id', 'text', 'by']])
  t.deepEqual(await pieces('drafter'), [['__component', 'id', 'text']])
})

test('booleans and JSON can be compared by order in filters', async t => {
  await room.make('/api/articles', { title: 'Ordered a', open: false, data: 1 })
  await room.make('/api/articles', { title: 'Ordered b', open: true, data: 2 })
  const found = async (filter: string) => {
    const path = `/api/articles?filters[title][$startsWith]=Ordered&sort=title&${filter}`
    const { body } = await room.send('GET', path)
    return (body.data as Body[]).map(({ title }) => String(title).at(-1)).join('')
  }
  t.is(await found('filters[open][$lt]=true'), 'a')
  t.is(await found('filters[open][$gte]=false'), 'ab')
  t.is(await found('filters[data][$gt]=1'), 'b')
  t.is(await found('filters[data][$between][0]=1&filters[data][$between][1]=2'), 'ab')
})
