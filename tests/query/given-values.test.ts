import test from 'ava'
import type { Model } from '../../core/model/model.ts'
import { parseGivenValues } from '../harness/attempts.ts'
import { library, typeOf } from './library.ts'

let model: Model
test.before(async () => {
  model = await library()
})

type Data = Readonly<Record<string, unknown>>

const parse = (data: Data) => parseGivenValues(typeOf(model, 'book'), data)

/** The fault that data is refused with, as its details. */
function refusal(data: Data): unknown {
  const parsed = parse(data)
  return parsed.ok ? parsed.value : { message: parsed.reasons[0]?.message, ...parsed.reasons[0]?.details }
}

const body = (key: string, path?: string | null, message = `Invalid key ${key}`) => ({
  message,
  key,
  ...(path === undefined ? {} : { path }),
  source: 'body',
})

test('assignable values pass unchanged, publishedAt and locale are omitted', t => {
  const data = { title: 5, author: null, meta: { id: 3, label: 'x' }, publishedAt: null, locale: 'fr' }
  t.deepEqual(refusal(data), { title: 5, author: null, meta: { id: 3, label: 'x' } })
})

test('private and password attributes may be written', t => {
  const parsed = parseGivenValues(typeOf(model, 'person'), { secret: 's', pin: '1234' })
  t.true(parsed.ok)
})

test('the first unknown key is reported with its path', t => {
  t.deepEqual(refusal({ title: 'x', nothing: 1, other: 2 }), body('nothing', null))
  t.deepEqual(refusal({ constructor: 1 }), body('constructor', null))
  t.deepEqual(refusal({ meta: { nothing: 1 } }), body('nothing', 'meta', 'Invalid key nothing at meta'))
  t.deepEqual(
    refusal({ metas: [{ label: 'x' }, { nothing: 1 }] }),
    body('nothing', 'metas', 'Invalid key nothing at metas'),
  )
  t.deepEqual(
    refusal({ zone: [{ __component: 'parts.gallery', metas: [{ nothing: 1 }] }] }),
    body('nothing', 'zone.metas', 'Invalid key nothing at zone.metas'),
  )
  t.deepEqual(refusal({ author: { add: ['a'] } }), body('add', 'author', 'Invalid key add at author'))
})

test('callers cannot set ids, timestamps or other locales, at the top or in components', t => {
  t.deepEqual(refusal({ id: 1 }), body('id'))
  t.deepEqual(refusal({ documentId: 'x' }), body('documentId'))
  for (const key of ['createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'localizations'])
    t.deepEqual(refusal({ [key]: null }), body(key, key))
  t.deepEqual(
    refusal({ meta: { documentId: 'x' } }),
    body('documentId', 'meta', 'Invalid key documentId at meta'),
  )
  t.deepEqual(
    refusal({ meta: { __component: 'parts.meta' } }),
    body('__component', 'meta', 'Invalid key __component at meta'),
  )
})

test('a component that is not an object is left to validation', t => {
  for (const data of [
    { meta: 'x' },
    { metas: [null, 'x'] },
    { zone: [{ __component: 'parts.nothing', a: 1 }] },
  ])
    t.deepEqual(refusal(data), data)
})

test('a body has at most 10,000 entries of components and zones, nested ones included', t => {
  const few = Array.from({ length: 4_000 }, () => ({}))
  const gallery = { __component: 'parts.gallery', metas: few }
  t.true(parse({ metas: few, zone: [gallery] }).ok)
  t.is(
    (refusal({ metas: few, zone: [gallery, gallery] }) as { message: string }).message,
    'A body may have at most 10000 entries of components and dynamic zones; this one has 12002',
  )
  // Entries that are refused for another reason are not parsed either.
  t.regex(
    String((refusal({ metas: Array.from({ length: 10_001 }, () => 1) }) as { message: string }).message),
    /has 10001$/,
  )
  t.true(parse({ data: Array.from({ length: 20_000 }, () => ({})) }).ok, 'lists within JSON are values')
})
