import test from 'ava'
import { modelOf } from '../model/compiled.ts'
import { names, openWriting, type Row, refusal } from './writing.ts'

const model = await modelOf(`
i18n: { defaultLocale: en, locales: [en, fr] }
components:
  shared.seo: { attributes: { title: { type: string, required: true }, note: string } }
contentTypes:
  page:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, required: true }
      slug: { type: uid }
      code: { type: string, unique: true, localized: false }
      count: { type: integer, localized: false }
      price: { type: decimal, min: 0.5, localized: false }
      seo: { type: component, component: shared.seo, localized: false }
      parts: { type: component, component: shared.seo, repeatable: true, min: 1, max: 3 }
      due: date
      note: { type: relation, relation: manyToOne, target: note, inversedBy: pages }
  note:
    attributes:
      name: { type: string, required: true, unique: true }
      word: { type: string, default: hello }
      pages: { type: relation, relation: oneToMany, target: page, mappedBy: note }
      page: { type: relation, relation: manyToOne, target: page }
      friend: { type: relation, relation: oneToOne, target: note, inversedBy: friendOf }
      friendOf: { type: relation, relation: oneToOne, target: note, mappedBy: friend }
  sheet:
    localized: true
    attributes:
      name: { type: string, required: true }
      rows: { type: component, component: shared.seo, repeatable: true, required: true, localized: false }
      zone: { type: dynamiczone, components: [shared.seo], required: true, min: 1, localized: false }
  label:
    localized: true
    attributes:
      name: { type: string, required: true }
      color: { type: string, localized: false, required: true }
`)

const draft = { status: 'draft' } as const
const fr = { locale: 'fr' } as const

test('a new document without drafts needs its required lists, which may be empty', async t => {
  const { tryCreate, create, update, tryUpdate } = await openWriting(t, model)
  t.like(refusal(await tryCreate('sheet', {})).details, {
    errors: ['name', 'rows', 'zone'].map(name => ({ path: [name], message: `${name} must be defined.` })),
  })
  t.is(refusal(await tryCreate('sheet', { name: 'a', zone: [] })).message, '2 errors occurred')
  const zone = [{ __component: 'shared.seo', title: 'z' }]
  const made = await create('sheet', { name: 'a', rows: [], zone })
  const id = String(made.documentId)
  t.is((await update('sheet', id, { name: 'b' })).name, 'b')
  t.is((await update('sheet', id, { name: 'c' }, fr)).name, 'c')
  t.is(refusal(await tryUpdate('sheet', id, { zone: [] })).message, 'zone field must have at least 1 items')
})

test('publishing refuses a stored decimal as the number that it is', async t => {
  const { create, tryUpdate } = await openWriting(t, model)
  const { documentId } = await create('page', { title: 'one', price: '0.1' }, draft)
  const { message, details } = refusal(await tryUpdate('page', String(documentId), {}))
  t.is(message, 'price must be greater than or equal to 0.5')
  t.like(details, { errors: [{ path: ['price'], value: 0.1 }] })
})

test('each write changes the versions that the contract lists (reference/rest.md#10-drafts)', async t => {
  const { create, update, remove, find } = await openWriting(t, model)
  const made = await create('page', { title: 'one' }, draft)
  const id = made.documentId
  t.is(made.publishedAt, null)
  t.is(await find('page', id), null)
  const first = await update('page', id, {})
  t.truthy(first.publishedAt)
  t.is(first.createdAt, made.createdAt)
  await update('page', id, { title: 'two' }, draft)
  t.is((await find('page', id))?.title, 'one')
  t.is((await find('page', id, draft))?.title, 'two')
  const second = await update('page', id, { count: 3 })
  t.like(second, { id: first.id, title: 'two', count: 3 })
  t.is((await find('page', id, draft))?.id, made.id)
  await remove('page', id)
  t.is(await find('page', id, draft), null)
})

test('an update without values changes the timestamps, and publishes again', async t => {
  const { create, update } = await openWriting(t, model)
  const note = await create('note', { name: 'n' })
  const page = await create('page', { title: 'p' })
  await new Promise(resolve => setTimeout(resolve, 5))
  const touched = await update('note', note.documentId, {})
  t.true(String(touched.updatedAt) > String(note.updatedAt))
  t.is(touched.publishedAt, touched.updatedAt)
  t.is(touched.createdAt, note.createdAt)
  const again = await update('page', page.documentId, {})
  t.true(String(again.updatedAt) > String(page.updatedAt))
  t.true(String(again.publishedAt) > String(page.publishedAt))
})

test('an update adds a locale, with the shared values and its own required ones (reference/rest.md#11-locales)', async t => {
  const { create, update, tryUpdate, find } = await openWriting(t, model)
  const { documentId } = await create('page', { title: 'en', code: 'c', seo: { title: 's', note: 'n' } })
  t.is(
    refusal(await tryUpdate('page', String(documentId), {}, fr)).message,
    'title must be a `string` type, but the final value was: `null`.',
  )
  const made = await update('page', documentId, { title: 'fr' }, fr)
  t.like(made, { title: 'fr', code: 'c', locale: 'fr', seo: { title: 's', note: 'n' } })
  await update('page', documentId, { count: 7 }, { ...fr, ...draft })
  t.is((await find('page', documentId, draft))?.count, 7)
  t.is((await find('page', documentId))?.count, null)
  await update('page', documentId, {}, fr)
  t.is((await find('page', documentId))?.count, 7)
  t.is((await find('page', documentId))?.title, 'en')
  const label = await create('label', { name: 'a', color: 'red' })
  t.is(refusal(await tryUpdate('label', String(label.documentId), {}, fr)).message, 'name must be defined.')
  t.like(await update('label', label.documentId, { name: 'b', color: 'blue' }, fr), { color: 'blue' })
  t.like(await find('label', label.documentId), { name: 'a', color: 'blue' })
})

test('invalid values are reported with the errors of the contract (reference/rest.md#3-attribute-values)', async t => {
  const { create, tryCreate, tryUpdate } = await openWriting(t, model)
  const tell = async (values: Row, where = {}) => refusal(await tryCreate('page', values, where))
  t.deepEqual((await tell({ title: 'x', due: '2023-02-30', parts: [] })).details, {})
  t.is((await tell({ slug: 'a b' })).message, '2 errors occurred')
  t.true((await tryCreate('page', { slug: 'a b', parts: [] }, draft)).ok)
  t.is(
    (await tell({ title: 'x', parts: null })).message,
    'parts must be a `array` type, but the final value was: `null`.',
  )
  await create('page', { title: 'x', code: 'taken' })
  t.deepEqual((await tell({ title: 'x', code: 'taken', slug: 'a b' })).details, {
    errors: [
      {
        path: ['slug'],
        message: 'slug must match the following: "/^[A-Za-z0-9-_.~]*$/"',
        name: 'ValidationError',
        value: 'a b',
      },
      { path: ['code'], message: 'This attribute must be unique', name: 'ValidationError', value: 'taken' },
    ],
  })
  const other = await create('page', { title: 'y', code: 'taken' }, draft)
  t.is(
    refusal(await tryUpdate('page', String(other.documentId), {})).message,
    'This attribute must be unique',
  )
  t.like(await create('note', { name: 'n' }), { word: 'hello' })
  t.like(await create('note', { name: 'm', word: null }), { word: null })
  t.is(refusal(await tryCreate('note', { name: 'n' })).message, 'This attribute must be unique')
})

test('a component is replaced, updated in part by its id of either version, or refused', async t => {
  const { create, update, tryUpdate, find } = await openWriting(t, model)
  const seo = { title: 's', note: 'n' }
  const page = await create('page', { title: 'x', seo, parts: [seo, { title: 'b' }] })
  const id = page.documentId
  const [a, b] = page.parts as { id: number }[]
  const changed = await update('page', id, {
    parts: [{ id: b?.id, note: 'new' }, { title: 'c' }, { id: a?.id }],
  })
  t.deepEqual(names(changed.parts, 'title'), ['b', 'c', 's'])
  t.deepEqual(names(changed.parts, 'note'), ['new', null, 'n'])
  t.is((changed.parts as { id: number }[])[0]?.id, b?.id)
  const published = (changed.seo as { id: number }).id
  await update('page', id, { seo: null }, draft)
  t.is((await find('page', id, draft))?.seo, null)
  const restored = await update('page', id, { seo: { id: published, note: 'back' } })
  t.deepEqual(restored.seo, { id: published, title: 's', note: 'back' })
  t.not(((await update('page', id, { seo: { title: 'new' } })).seo as { id: number }).id, published)
  const foreign = refusal(await tryUpdate('page', id as string, { seo: { id: 99_999 } }))
  t.like(foreign, {
    name: 'ApplicationError',
    message: 'Some of the provided components in seo are not related to the entity',
  })
  for (const id of ['x', 1.5, true, [], {}, '', '0x1', 10 ** 20])
    t.deepEqual(
      refusal(await tryUpdate('page', page.documentId as string, { seo: { id } })),
      foreign,
      String(id),
    )
  const fresh = await update('page', id, { seo: { id: null, title: 'fresh' } })
  t.like(fresh.seo, { title: 'fresh' })
  const twice = refusal(await tryUpdate('page', id as string, { parts: [{ id: a?.id }, { id: a?.id }] }))
  t.is(twice.name, 'ApplicationError')
})

test('both sides of a relation are written, and a single partner is taken from its former one', async t => {
  const { create, update, find, tryUpdate } = await openWriting(t, model)
  const pages = [await create('page', { title: 'p' }), await create('page', { title: 'q' }, draft)]
  const ids = pages.map(({ documentId }) => documentId)
  const a = await create('note', { name: 'a', pages: ids })
  t.deepEqual(names(a.pages, 'title'), ['p'])
  t.deepEqual(names((await find('note', a.documentId, draft))?.pages, 'title'), ['p', 'q'])
  const b = await create('note', { name: 'b', pages: { connect: [ids[0]] } })
  t.deepEqual(names((await find('note', a.documentId, draft))?.pages, 'title'), ['q'])
  t.like(await find('page', ids[0]), { note: { name: 'b' } })
  await update('note', a.documentId, { friend: b.documentId })
  const c = await create('note', { name: 'c', friend: b.documentId })
  t.is((await find('note', a.documentId))?.friend, null)
  await update('note', b.documentId, { friendOf: a.documentId })
  t.is((await find('note', c.documentId))?.friend, null)
  t.like(await find('note', a.documentId), { friend: { name: 'b' } })
  await update('note', a.documentId, { friend: a.documentId })
  t.like(await find('note', a.documentId), { friend: { name: 'a' }, friendOf: { name: 'a' } })
  const gone = refusal(
    await tryUpdate('note', String(a.documentId), { page: { documentId: ids[0], locale: 'fr' } }),
  )
  t.is(gone.message, `Document with id "${ids[0]}", locale "fr" not found`)
  const number = refusal(await tryUpdate('note', String(a.documentId), { friend: 424242 }))
  t.is(number.message, '1 relation(s) of type api::note.note associated with this entity do not exist')
})

test('an owner without locales takes a one-to-one target of one locale from its former owner, and of no other', async t => {
  const yaml = `
i18n: { defaultLocale: en, locales: [en, fr] }
contentTypes:
  seat: { attributes: { name: string, guest: { type: relation, relation: oneToOne, target: guest, inversedBy: seat } } }
  guest: { localized: true, attributes: { name: string, seat: { type: relation, relation: oneToOne, target: seat, mappedBy: guest } } }`
  const { create, update, rows } = await openWriting(t, await modelOf(yaml))
  const guestOf = async (name: string) => {
    const { documentId } = await create('guest', { name })
    await update('guest', documentId, { name: `${name} fr` }, { locale: 'fr' })
    return (locale: string) => ({ guest: { documentId, locale } })
  }
  const [ann, bob] = [await guestOf('Ann'), await guestOf('Bob')]
  const seats = async () =>
    (
      await rows(
        'SELECT s.name, g.name FROM seats s JOIN guests g ON g.document_key = s.guest_key AND g.locale = s.guest_locale ORDER BY 1',
      )
    ).map(row => row.join(': '))
  const { documentId: first } = await create('seat', { name: '1', ...ann('en') })
  const { documentId: second } = await create('seat', { name: '2', ...ann('fr') })
  await update('seat', second, ann('en'))
  t.deepEqual(await seats(), ['2: Ann'])
  await update('seat', first, bob('fr'))
  await update('seat', second, bob('en'))
  await update('seat', first, ann('fr'))
  t.deepEqual(await seats(), ['1: Ann fr', '2: Bob'])
  await update('seat', first, ann('en'))
  await update('seat', second, ann('fr'))
  await update('seat', first, bob('en'))
  t.deepEqual(await seats(), ['1: Bob', '2: Ann fr'])
  await update('seat', first, ann('en'))
  t.deepEqual(await seats(), ['1: Ann', '2: Ann fr'])
})

test('a position next to a document outside the list, and connecting a document twice, are refused', async t => {
  const { create, tryUpdate } = await openWriting(t, model)
  const [p, q, note] = [
    await create('page', { title: 'p' }),
    await create('page', { title: 'q' }),
    await create('note', { name: 'n' }),
  ]
  const id = String(note?.documentId)
  const connect = async (...list: unknown[]) =>
    refusal(await tryUpdate('note', id, { pages: { connect: list } })).message
  t.regex(
    String(await connect({ documentId: p?.documentId, position: { after: q?.documentId } })),
    /^There was a problem connecting relation with id \d+ at position \{"after":\d+\}\. The relation with id \d+ needs to be connected first\.$/,
  )
  t.regex(
    String(await connect({ documentId: p?.documentId, position: { before: p?.documentId } })),
    /needs to be connected first/,
  )
  t.regex(
    String(await connect(p?.documentId, p?.documentId)),
    /^The relation with id \d+ is already connected\. You cannot connect the same relation twice\.$/,
  )
})

test('a caller who may write only some documents cannot add locales to others', async t => {
  const { create, tryUpdate } = await openWriting(t, model)
  const page = await create('page', { title: 'his', code: 'his' })
  const type = [...model.contentTypes.values()].find(({ key }) => key === 'page')
  const attribute = type?.attributes.get('title')
  if (attribute?.kind !== 'scalar') return t.fail()
  const filter = { kind: 'comparison', attribute, operator: '$eq', values: ['mine'] } as const
  const conditions = { before: filter, after: filter }
  const values = { title: 'mine', code: 'stolen' }
  const translated = await tryUpdate('page', String(page.documentId), values, { ...fr, conditions })
  t.is(refusal(translated).status, 403)
})
