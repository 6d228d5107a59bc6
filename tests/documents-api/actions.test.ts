import test from 'ava'
import { openTestApp } from '../harness/test-app.ts'
import { open, refusalOf } from './opened.ts'

test('documents are created, found, counted, changed and deleted with the values of REST', async t => {
  const { documents } = await open(t)
  const books = documents('api::book.book')
  const made = await books.create({ data: { title: 'Emma', price: 12, secret: 'kept' } })
  t.like(made, { title: 'Emma', price: 12, secret: 'kept', locale: 'en', publishedAt: null })
  const { documentId } = made
  t.is(await books.count(), 1)
  t.deepEqual(await books.findOne({ documentId }), made)
  const changed = await books.update({ documentId, data: { price: 13 } })
  t.like(changed, { documentId, title: 'Emma', price: 13 })
  const gone = await books.delete({ documentId })
  t.is(gone.documentId, documentId)
  t.like(gone.entries, [{ documentId, price: 13 }])
  t.is(await books.findOne({ documentId }), null)
  t.is(await books.count(), 0)
})

test('the key of a content-type is accepted in place of its uid', async t => {
  const { documents } = await open(t)
  const { documentId } = await documents('writer').create({ data: { name: 'Jane' } })
  t.like(await documents('api::writer.writer').findOne({ documentId }), { name: 'Jane' })
})

test('lists are filtered, sorted, paginated and populated as over REST', async t => {
  const { documents } = await open(t)
  const jane = await documents('writer').create({ data: { name: 'Jane' } })
  for (const [title, price] of [
    ['Emma', 3],
    ['Persuasion', 2],
    ['Lady Susan', 1],
  ] as const)
    await documents('book').create({ data: { title, price, writer: jane.documentId } })
  const found = await documents('book').findMany({
    filters: { price: { $gt: 1 }, writer: { name: 'Jane' } },
    sort: 'price:asc',
    fields: ['title'],
    populate: { writer: { fields: ['name'] } },
  })
  t.like(found, [{ title: 'Persuasion', writer: { name: 'Jane' } }, { title: 'Emma' }])
  const [chosen] = await documents('book').findMany({ fields: ['title'] })
  t.deepEqual(Object.keys(chosen ?? {}), ['id', 'documentId', 'title'])
  const titles = async (page: object) =>
    (await documents('book').findMany({ sort: 'price', ...page })).map(({ title }) => title)
  t.deepEqual(await titles({ limit: 1, start: 1 }), ['Persuasion'])
  t.deepEqual(await titles({ pagination: { page: 2, pageSize: 2 } }), ['Emma'])
  t.deepEqual(await titles({ pagination: { limit: -1 } }), ['Lady Susan', 'Persuasion', 'Emma'])
  t.like(await documents('book').findFirst({ sort: 'price:desc' }), { title: 'Emma' })
  t.is(await documents('book').findFirst({ filters: { title: 'Sanditon' } }), null)
  t.is(await documents('book').count({ filters: { price: { $in: [1, 2] } } }), 2)
})

test('a list without pagination has all documents, without the limit of REST', async t => {
  const { documents } = await open(t)
  for (let index = 0; index < 30; index++) await documents('writer').create({ data: { age: index } })
  t.is((await documents('writer').findMany()).length, 30)
})

test('publish, unpublish and discardDraft return the changed versions', async t => {
  const { documents } = await open(t)
  const books = documents('book')
  const { documentId } = await books.create({ data: { title: 'Draft' } })
  t.is(await books.findOne({ documentId, status: 'published' }), null)
  const published = await books.publish({ documentId })
  t.like(published, { documentId, entries: [{ title: 'Draft' }] })
  t.truthy(published.entries[0]?.publishedAt)
  await books.update({ documentId, data: { title: 'Changed' } })
  t.like(await books.findOne({ documentId, status: 'published' }), { title: 'Draft' })
  t.like(await books.discardDraft({ documentId }), { entries: [{ title: 'Draft', publishedAt: null }] })
  t.like(await books.unpublish({ documentId }), { documentId, entries: [{ title: 'Draft' }] })
  t.is(await books.findOne({ documentId, status: 'published' }), null)
  t.deepEqual(await books.publish({ documentId: 'missing' }), { documentId: 'missing', entries: [] })
})

test('each locale is written and read by its code, all locales by *', async t => {
  const { documents } = await open(t)
  const books = documents('book')
  const { documentId } = await books.create({ data: { title: 'Emma' } })
  await books.update({ documentId, locale: 'fr', data: { title: 'Emma, en français' } })
  t.like(await books.findOne({ documentId, locale: 'fr' }), { title: 'Emma, en français', locale: 'fr' })
  t.is((await books.findMany({ locale: '*' })).length, 2)
  t.is((await books.publish({ documentId, locale: '*' })).entries.length, 2)
  t.is((await books.delete({ documentId, locale: 'fr' })).entries.length, 1)
  t.is((await books.delete({ documentId, locale: '*' })).entries.length, 1)
  t.is(await books.count({ locale: '*' }), 0)
})

test('update of a missing document returns null, and delete returns no entries', async t => {
  const { documents } = await open(t)
  t.is(await documents('writer').update({ documentId: 'missing', data: { name: 'x' } }), null)
  t.deepEqual(await documents('writer').delete({ documentId: 'missing' }), {
    documentId: 'missing',
    entries: [],
  })
})

test('Date values are accepted as dates, and undefined in data is ignored', async t => {
  const { documents } = await open(t)
  await documents('book').create({ data: { title: 'Emma', price: undefined } })
  const yesterday = new Date(Date.now() - 86_400_000)
  t.is(await documents('book').count({ filters: { createdAt: { $gt: yesterday } } }), 1)
})

test('passwords are never returned, for any caller or query', async t => {
  const { documents } = await open(t)
  const made = await documents('writer').create({ data: { name: 'Jane', pin: 'a secret pin' } })
  const found = await documents('writer').findMany({ fields: ['name', '*'] })
  const user = await documents('user').create({
    data: { username: 'jane', email: 'jane@example.com', password: 'a secret word' },
  })
  for (const each of [made, found[0], user, await documents('user').findFirst({ populate: '*' })]) {
    t.false('pin' in (each ?? {}) || 'password' in (each ?? {}))
    t.notRegex(JSON.stringify(each), /\$2[aby]\$|a secret/)
  }
  const byPassword = [
    () => documents('writer').findMany({ filters: { pin: { $startsWith: '$2' } } }),
    () => documents('writer').count({ filters: { $not: { pin: { $null: true } } } }),
    () => documents('writer').findMany({ sort: 'pin' }),
    () => documents('book').findMany({ filters: { writer: { pin: 'x' } } }),
    () => documents('book').findMany({ sort: 'writer.pin' }),
    () => documents('writer').findMany({ populate: { books: { filters: { pin: 'x' } } } }),
  ]
  for (const action of byPassword) t.regex(await refusalOf(action()), /Invalid key pin/)
})

test('a password that is named to be answered is refused in every action', async t => {
  const { documents } = await open(t)
  const [writers, books] = [documents('writer'), documents('book')]
  const { documentId } = await writers.create({ data: { name: 'Jane', pin: 'a secret pin' } })
  const { documentId: book } = await books.create({ data: { title: 'Emma' } })
  const fields = ['name', 'pin']
  const named: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['findMany', () => writers.findMany({ fields })],
    ['findFirst', () => writers.findFirst({ fields })],
    ['findOne', () => writers.findOne({ documentId, fields })],
    ['create', () => writers.create({ data: { name: 'Ann' }, fields })],
    ['update', () => writers.update({ documentId, data: { name: 'Ann' }, fields })],
    ['delete', () => writers.delete({ documentId, fields })],
    ['publish', () => books.publish({ documentId: book, fields: ['pin'] })],
    ['unpublish', () => books.unpublish({ documentId: book, fields: ['pin'] })],
    ['discardDraft', () => books.discardDraft({ documentId: book, fields: ['pin'] })],
    ['a relation', () => books.findMany({ populate: { writer: { fields } } })],
    ['a component', () => books.findMany({ populate: { box: { fields: ['label', 'pin'] } } })],
    [
      'a zone',
      () => books.findMany({ populate: { parts: { on: { 'shared.box': { fields: ['label', 'pin'] } } } } }),
    ],
  ]
  for (const [name, action] of named)
    t.is(await refusalOf(action()), 'validation: Invalid key pin: a password is never answered', name)
  t.deepEqual(
    (await writers.findMany({ fields: ['name'] })).map(each => each.name),
    ['Jane'],
  )
})

test('invalid values are reported with the nearest valid one', async t => {
  const { documents } = await open(t)
  const books = documents('book')
  t.is(
    await refusalOf((async () => documents('api::bok.bok'))()),
    'validation: There is no content-type api::bok.bok: did you mean `api::book.book`?',
  )
  const refused: readonly (readonly [() => Promise<unknown>, RegExp])[] = [
    [
      () => books.findMany({ filtres: {} } as object),
      /^validation: Unknown parameter filtres of findMany: did you mean `filters`\?$/,
    ],
    [() => books.findMany({ filters: { titel: 'x' } }), /Invalid key titel.*did you mean `title`\?$/],
    [
      () => books.findMany({ filters: { title: { $contain: 'x' } } }),
      /\$contain.*did you mean `\$contains`\?$/,
    ],
    [() => books.findMany({ filters: { writer: { nam: 'x' } } }), /nam at writer.*did you mean `name`\?$/],
    [() => books.findMany({ sort: 'prise' }), /Invalid key prise.*did you mean `price`\?$/],
    [() => books.findMany({ populate: { writr: true } }), /Invalid key writr.*did you mean `writer`\?$/],
    [() => books.findMany({ fields: ['titel'] }), /Invalid key titel.*did you mean `title`\?$/],
    [() => books.findMany({ filters: { title: undefined } }), /filters\.title is undefined/],
    [() => books.findMany({ filters: { title: () => 'x' } }), /filters\.title is .*expected plain values/],
    [() => books.findMany({ limit: -2 }), /Invalid limit: expected a whole number from 1/],
    [() => books.findMany({ pagination: { pageSise: 1 } } as object), /Unknown key pageSise of pagination/],
    [() => books.findMany({ status: 'live' } as object), /Invalid value for status/],
    [() => books.findOne({} as { documentId: string }), /documentId must be/],
    [() => books.create({} as { data: Record<string, unknown> }), /data must be an object/],
    [() => books.create({ data: { titel: 'x' } }), /Invalid key titel.*did you mean `title`\?$/],
    [() => books.create({ data: { createdAt: '2024-01-01' } }), /^validation: Invalid key createdAt$/],
    [() => books.findMany({ sort: 'writer' }), /^validation: Invalid key writer$/],
    [() => books.create({ data: {}, locale: 'de' }), /Unknown locale de/],
    [() => documents('writer').publish({ documentId: 'x' }), /^validation: /],
  ]
  for (const [action, message] of refused) t.regex(await refusalOf(action()), message)
})

test('a single type is changed under its own documentId only; another one is missing, and the database serves on', async t => {
  const project = {
    name: 'Single',
    contentTypes: { setting: { kind: 'single', attributes: { name: 'string' } } },
  }
  const { app } = await openTestApp(t, { project })
  const settings = app.documents('setting')
  t.is(await settings.update({ documentId: 'absent', data: { name: 'none' } }), null)
  const { documentId } = await settings.create({ data: { name: 'one' } })
  t.is(await settings.update({ documentId: 'absent', data: { name: 'two' } }), null)
  t.like(await settings.update({ documentId, data: { name: 'three' } }), { documentId, name: 'three' })
  t.like(await settings.delete({ documentId: 'absent' }), { entries: [] })
  t.like(await settings.findFirst(), { name: 'three' })
})

test('a documentId with a character that no documentId has is missing, for every action, over REST too', async t => {
  const project = {
    name: 'Missing',
    contentTypes: { note: { draftAndPublish: true, attributes: { title: 'string' } } },
    roles: { public: { permissions: { note: '*' } } },
  }
  const { app, request } = await openTestApp(t, { project })
  const notes = app.documents('note')
  const documentId = 'a\0b'
  t.is(await notes.findOne({ documentId }), null)
  t.is(await notes.update({ documentId, data: {} }), null)
  for (const action of ['delete', 'publish', 'unpublish', 'discardDraft'] as const)
    t.deepEqual(await notes[action]({ documentId }), { documentId, entries: [] }, action)
  for (const [method, path, status] of [
    ['GET', 'notes/a%00b', 404],
    ['PUT', 'notes/a%00b', 404],
    ['DELETE', 'notes/a%00b', 204],
    ['POST', 'actions/notes/a%00b/unpublish', 200],
    ['POST', 'actions/notes/a%00b/discard-draft', 200],
  ] as const)
    t.is((await request(method, `/api/${path}`, { body: { data: {} } })).status, status, path)
})
