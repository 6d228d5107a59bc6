import test from 'ava'
import { compileAccess } from '../../core/access/compile/compile-access.ts'
import { restrict } from '../../core/access/restrict/restrict.ts'
import { LruCache } from '../../core/base/lru-cache.ts'
import { detachString } from '../../core/base/text.ts'
import type { Documents } from '../../core/documents/documents.ts'
import { toCacheableRead } from '../../core/documents/read/plan-once.ts'
import { compileGenerated } from '../../core/graphql/compile-schema.ts'
import { openEngine } from '../../core/graphql/engine.ts'
import { FORMATS } from '../../core/graphql/formats/format.ts'
import { openBudget } from '../../core/graphql/limits/budget.ts'
import { prepareOperation } from '../../core/graphql/prepare-operation.ts'
import { restrictRoots } from '../../core/graphql/text/text-operation.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import { parseListSearch, restrictOnce } from '../../core/rest/perform-action.ts'
import { growthOf } from '../harness/heap.ts'
import { compiled } from '../model/compiled.ts'
import { declare } from '../model/declare.ts'

test('values are bounded in number and bytes, and the least recently used is evicted', t => {
  const kept = new LruCache<string>({ entries: 3, bytes: 10_000 }, ({ length }) => length)
  for (const key of ['a', 'b', 'c']) kept.set(key, key)
  kept.get('a')
  kept.set('d', 'd')
  t.deepEqual([kept.get('a'), kept.get('b'), kept.get('c'), kept.size], ['a', undefined, 'c', 3])
  const before = kept.bytes
  kept.set('d', 'd'.repeat(101))
  t.is(kept.bytes, before + 100)
  kept.set('d', 'd'.repeat(2000))
  t.is(kept.get('d'), undefined, 'more than an eighth')
  for (let index = 0; index < 40; index++) kept.set(`${index}`, 'x'.repeat(900))
  t.true(kept.size <= 3 && kept.bytes <= 10_000)
})

test('a cache key that is part of a request text does not retain the whole text', t => {
  const map = new LruCache<number>({ entries: 10_000, bytes: 100_000_000 }, () => 8)
  const growth = growthOf(1000, number => {
    const request = `${number} `.repeat(4000)
    map.set(request.slice(0, 40), number)
    // The key of a later request.
    map.get(`${number} `.repeat(4000).slice(0, 40))
  })
  // The requests were 8 MB at least.
  t.true(growth < 1_000_000, `${growth} bytes`)
  for (const text of ['', 'größer', 'я'.repeat(3), '\ud800 alone', '\u0000']) t.is(detachString(text), text)
})

const YAML = `
contentTypes:
  note:
    attributes:
      title: string
      body: text
      day: date
      rating: integer
${Array.from({ length: 20 }, (_, number) => `      link${number}: { type: relation, relation: manyToOne, target: other }`).join('\n')}
  other: { attributes: { name: string, notes: text } }
roles:
  public: { permissions: { note: [find, findOne], other: [find, findOne] } }
`

async function noted() {
  const project = await declare(YAML)
  const model = compiled(project)
  const access = compileAccess(project, model)
  const type = model.contentTypes.get('api::note.note')
  if (!access.ok || !type) throw new Error('no notes')
  const { publicCaller: anonymous } = access.value
  const storage = compileStorage(model)
  return { project, model, type, anonymous, plan: { storage, defaultLocale: 'en', shape: 'flat' } } as const
}

/** Nothing is read here. */
const absent = (): never => {
  throw new Error('not in this test')
}

const NO_DOCUMENTS: Documents = {
  findMany: absent,
  findOne: absent,
  findAcross: absent,
  findRows: absent,
  findBody: absent,
  create: absent,
  update: absent,
  updateByStatus: absent,
  delete: absent,
  publish: absent,
  unpublish: absent,
  discardDraft: absent,
  changeMany: absent,
}

const QUESTIONS: Readonly<Record<string, (number: number) => string>> = {
  filters: number =>
    `filters[title][$contains]=${number}&filters[$or][0][rating][$gt]=${number}&sort=day:desc`,
  fields: number => `fields[0]=title&fields[1]=day&populate=link1,link2&pagination[page]=${number}`,
  everything: number => `populate=*&pagination[page]=${number}`,
  nothing: number => `pagination[page]=${number}`,
}

const QUESTIONS_ASKED = 300

for (const [name, textOf] of Object.entries(QUESTIONS)) {
  test(`REST queries take no more memory than the cache counts for them: ${name}`, async t => {
    const { project, model, type, anonymous, plan } = await noted()
    let counted = 0
    const growth = growthOf(QUESTIONS_ASKED, number => {
      const list = parseListSearch(
        type,
        { search: textOf(number) },
        { model, settings: project.settings.rest },
      )
      const { parsed } = list
      const seen = restrictOnce(list, anonymous, () => restrict(parsed.query, anonymous))
      toCacheableRead(seen, plan)
      if (number <= QUESTIONS_ASKED) counted += list.size
    })
    t.true(growth < counted * 1.25, `${growth} bytes of ${counted}`)
    t.true(growth > counted / 4, `${growth} bytes of ${counted}`)
  })
}

const OPERATIONS: Readonly<Record<string, (number: number) => string>> = {
  pages: number => `query Q${number} { notes(pagination: { page: ${number} }) {
    data { id attributes { title rating link1 { data { attributes { name } } } } } meta { pagination { total } } } }`,
  'one-letter names': number =>
    `{ a: notes { data { id } } ${'b: notes { data { id } } '.repeat(30)} n${number}: notes { data { id } } }`,
  'names alone': number => `{ n${number}: notes { data { attributes { ${'title day '.repeat(40)} } } } }`,
  filters: number =>
    `{ notes(filters: { or: [{ title: { eq: "${number}" } }, { rating: { gt: ${number} } }, { link1: { name: { contains: "a" } } }] }) { data { id } } }`,
  fragments: number => `query Q${number} { ${'notes { data { ...one } } '.repeat(3)} }
    fragment one on NoteEntity { attributes { ${Array.from({ length: 20 }, (_, link) => `link${link} { data { id attributes { name notes } } }`).join(' ')} } }`,
}

for (const [name, textOf] of Object.entries(OPERATIONS)) {
  test(`GraphQL operations take no more memory than the cache counts for them: ${name}`, async t => {
    const { project, model, anonymous, plan } = await noted()
    const { config } = project.settings.graphql
    const generated = compileGenerated({ format: 'nested', model, settings: project.settings.graphql })
    const engine = openEngine(generated.schema, {
      format: FORMATS.nested,
      model,
      config,
      documents: NO_DOCUMENTS,
      observer: { isEnabled: () => false, emit: () => {} },
      production: false,
      roots: generated.roots,
      trusted: null,
    })
    const countedNow = () => engine.documents.bytes + engine.plans.bytes
    let first = 0
    const growth = growthOf(60, number => {
      if (number === 1) first = countedNow()
      const asked = { query: textOf(number), documentId: null, variables: {}, operationName: null }
      const prepared = prepareOperation(asked, engine, openBudget(config.limits))
      if (!prepared.ok) throw prepared.reasons[0]
      const { text } = prepared.value.plan
      if (!text) throw new Error('not by text')
      for (const query of restrictRoots(text, anonymous) ?? []) toCacheableRead(query, plan)
    })
    const counted = countedNow() - first
    t.true(growth < counted * 1.25, `${growth} bytes of ${counted}`)
    t.true(growth > counted / 4, `${growth} bytes of ${counted}`)
  })
}
