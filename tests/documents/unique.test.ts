import test from 'ava'
import type { DesiredDocument } from '../../core/documents/desired-state.ts'
import { writeDocuments } from '../../core/documents/write-documents.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import type { ContentType } from '../../core/model/model.ts'
import { linearity } from '../harness/processor-time.ts'
import { holderOf, modelOf } from '../model/compiled.ts'
import { names, openWriting, type Row, refusal } from './writing.ts'

const model = await modelOf(`
i18n: { defaultLocale: en, locales: [en, fr] }
components:
  shop.size: { attributes: { sku: { type: string, unique: true, required: true }, count: { type: integer, unique: true }, note: { type: text, unique: true } } }
  shop.box: { attributes: { sizes: { type: component, component: shop.size, repeatable: true } } }
contentTypes:
  shirt:
    draftAndPublish: true
    localized: true
    attributes:
      sizes: { type: component, component: shop.size, repeatable: true }
      sample: { type: component, component: shop.size, localized: false }
      crate: { type: component, component: shop.box, localized: false }
      parts: { type: dynamiczone, components: [shop.box, shop.size] }
  shoe:
    attributes:
      since: { type: datetime, unique: true }
      code: { type: string, unique: true }
      motto: { type: text, unique: true }
      sizes: { type: component, component: shop.size, repeatable: true }
      box: { type: component, component: shop.box }
`)

const draft = { status: 'draft' } as const
const fr = { locale: 'fr' } as const

/** Positions of conflicting values. */
const places = (error: Record<string, unknown>): unknown[] =>
  (error.details as { errors: { path: string[]; message: string }[] }).errors.map(({ path, message }) =>
    message === 'This attribute must be unique' ? path.join('.') : message,
  )

test('a unique component value that another document has is refused with its path', async t => {
  const { create, update, tryCreate, tryUpdate } = await openWriting(t, model)
  await create('shoe', {
    sizes: [{ sku: 'a' }, { sku: 'b', count: 1, note: 'n' }],
    box: { sizes: [{ sku: 'c' }] },
  })
  const taken = {
    sizes: [
      { sku: 'b', note: 'm' },
      { sku: 'x', count: 1, note: 'n' },
    ],
    box: { sizes: [{ sku: 'y' }, { sku: 'a' }] },
  }
  const error = refusal(await tryCreate('shoe', taken))
  t.deepEqual(places(error).toSorted(), [
    ...['box.sizes.1.sku', 'sizes.0.sku', 'sizes.1.count', 'sizes.1.note'],
  ])
  t.is(error.message, '4 errors occurred')
  const other = await create('shoe', { sizes: [{ sku: 'x' }] })
  const id = String(other.documentId)
  t.deepEqual(places(refusal(await tryUpdate('shoe', id, { box: { sizes: [{ sku: 'c' }] } }))), [
    'box.sizes.0.sku',
  ])
  const kept = await update('shoe', id, { sizes: [{ sku: 'y' }, { sku: 'x' }] })
  t.deepEqual(names(kept.sizes, 'sku'), ['y', 'x'])
})

test('a duplicate value in one body is refused, and the error names the second one', async t => {
  const { tryCreate } = await openWriting(t, model)
  const values = { sizes: [{ sku: 'a' }, { sku: 'b' }, { sku: 'a' }], box: { sizes: [{ sku: 'b' }] } }
  t.deepEqual(places(refusal(await tryCreate('shoe', values))), ['sizes.2.sku', 'box.sizes.0.sku'])
})

for (const [name, attribute] of [
  ['an index', 'sku'],
  ['no index', 'note'],
] as const)
  test.serial(`many unique values of components are checked in linear time, with ${name}`, async t => {
    const { create } = await openWriting(t, model)
    let written = 0
    const sizes = (size: number) =>
      Array.from({ length: size }, () => ({ sku: `${written}`, [attribute]: `${written++}` }))
    const { isLinear, times } = await linearity(8_000, size => create('shoe', { sizes: sizes(size) }), 500)
    t.true(isLinear, times)
  })

test('drafts and other locales may share a value; publishing checks it, and so do attributes that all locales share', async t => {
  const { create, update, change, tryChange, tryUpdate } = await openWriting(t, model)
  const first = await create('shirt', { sizes: [{ sku: 'a' }] })
  const second = await create('shirt', { sizes: [{ sku: 'a' }] }, draft)
  const id = String(second.documentId)
  t.deepEqual(places(refusal(await tryChange('publish', 'shirt', id))), ['sizes.0.sku'])
  await update('shirt', id, { sizes: [{ sku: 'a' }] }, fr)
  await change('unpublish', 'shirt', first.documentId)
  await change('publish', 'shirt', id)
  await update('shirt', id, { sample: { sku: 's' } })
  const sample = refusal(
    await tryUpdate('shirt', String(first.documentId), { sizes: [], sample: { sku: 's' } }),
  )
  t.deepEqual(places(sample), ['sample.sku'])
  const zone = {
    parts: [
      { __component: 'shop.box', sizes: [{ sku: 'a' }] },
      { __component: 'shop.size', sku: 'z' },
    ],
  }
  t.deepEqual(places(refusal(await tryUpdate('shirt', String(first.documentId), { ...zone, sizes: [] }))), [
    'parts.0.sizes.0.sku',
  ])
})

test('components of one list may swap their unique values, and pass them to new ones', async t => {
  const { create, update, rows } = await openWriting(t, model)
  for (const kind of ['shirt', 'shoe']) {
    const made = await create(kind, { sizes: [{ sku: 'a' }, { sku: 'b' }, { sku: 'c' }] })
    const [a, b] = made.sizes as readonly Row[]
    const swapped = await update(kind, made.documentId, {
      sizes: [{ id: a?.id, sku: 'b' }, { id: b?.id, sku: 'a' }, { sku: 'c' }],
    })
    t.deepEqual(names(swapped.sizes, 'sku'), ['b', 'a', 'c'])
    t.deepEqual([(swapped.sizes as Row[])[0]?.id, (swapped.sizes as Row[])[1]?.id], [a?.id, b?.id])
    const moved = await update(kind, made.documentId, {
      sizes: [{ sku: 'a' }, { id: a?.id, sku: 'd' }, { sku: 'b' }],
    })
    t.deepEqual(names(moved.sizes, 'sku'), ['a', 'd', 'b'])
    t.deepEqual(
      await rows(`SELECT DISTINCT locale FROM components_shop_size WHERE owner = '${kind}.sizes'`),
      [[kind === 'shirt' ? 'en' : null]],
    )
    await update(kind, made.documentId, { sizes: [] })
  }
})

test('one of many concurrent writes of a component’s unique value succeeds, the others get a conflict', async t => {
  const { tryCreate, rows } = await openWriting(t, model)
  for (const kind of ['shoe', 'shirt']) {
    const results = await Promise.all(
      Array.from({ length: 5 }, () => tryCreate(kind, { sizes: [{ sku: kind }] })),
    )
    t.is(results.filter(({ ok }) => ok).length, 1, kind)
    for (const result of results)
      if (!result.ok) t.deepEqual([refusal(result).status, places(refusal(result))], [400, ['sizes.0.sku']])
    t.is((await rows(`SELECT DISTINCT id FROM components_shop_size WHERE sku = '${kind}'`)).length, 1)
  }
})

test('unique values of other types than text are compared by value', async t => {
  const { create, tryCreate } = await openWriting(t, model)
  await create('shoe', { since: '2024-01-01T10:00:00.000Z' })
  const error = refusal(await tryCreate('shoe', { since: '2024-01-01T11:00:00+01:00' }))
  t.deepEqual(places(error), ['since'])
})

test('a unique text without an index is compared on a type without locales', async t => {
  const { create, tryCreate, update } = await openWriting(t, model)
  const { documentId } = await create('shoe', { motto: 'just walk' })
  t.deepEqual(places(refusal(await tryCreate('shoe', { motto: 'just walk' }))), ['motto'])
  await update('shoe', String(documentId), { motto: 'just run' })
  t.is((await create('shoe', { motto: 'just walk' })).motto, 'just walk')
})

test('values nested in a component that all locales share are unique among all locales', async t => {
  const { create, update, tryCreate, rows } = await openWriting(t, model)
  const { documentId } = await create('shirt', {})
  await update('shirt', documentId, { crate: { sizes: [{ sku: 'a' }] } }, fr)
  t.deepEqual(await rows('SELECT DISTINCT locale FROM components_shop_size'), [[null]])
  for (const locale of ['en', 'fr']) {
    const error = refusal(await tryCreate('shirt', { crate: { sizes: [{ sku: 'a' }] } }, { locale }))
    t.deepEqual(places(error), ['crate.sizes.0.sku'], locale)
  }
})

test('documents that are written together may swap their values', async t => {
  const { create, rows, database } = await openWriting(t, model)
  const ids: string[] = []
  for (const code of ['a', 'b', 'c']) ids.push(String((await create('shoe', { code })).documentId))
  const documents = ['b', 'c', 'a'].map((value, index): DesiredDocument => {
    const values = new Map([['code', { kind: 'scalar', value } as const]])
    const versions = [{ locale: null, statuses: ['published'] as const, values }]
    return { type: holderOf(model, 'shoe') as ContentType, documentId: String(ids[index]), versions }
  })
  const options = { storage: compileStorage(model), schema: database.schema, defaultLocale: 'en' }
  const now = new Date().toISOString()
  await database.transaction(transaction =>
    writeDocuments(documents, { ...options, transaction, now, componentMatch: 'by-id', touch: false }),
  )
  t.deepEqual(await rows('SELECT code FROM shoes ORDER BY id'), [['b'], ['c'], ['a']])
})
