import test from 'ava'
import type { Caller } from '../../core/access/caller.ts'
import type { Attribute, Holder } from '../../core/model/model.ts'
import { restrict } from '../harness/attempts.ts'
import { populate, probes, waysFrom } from './oracle.ts'
import { attributeOf, everything, listOf, passed, scalarOf, typeOf, world } from './project.ts'

const { model, access } = await world(`
roles:
  public:
    permissions:
      book: { find: { fields: ["!price", "!sequel"] } }
      writer: { find: { fields: [name, books, account] } }
apiTokens:
  all: { type: full-access, secret: all-all-all-all-all-all }
`)
const book = typeOf(model, 'book')
const all: Caller = {
  kind: 'token',
  grants: access.tokens.get('all') ?? access.publicCaller.grants,
  user: null,
}

/** The values hidden from a public reader, listed a second time by hand. */
const UNREADABLE: Readonly<Record<string, readonly string[]>> = {
  'api::book.book': ['price', 'sequel', 'secret', 'pin', 'vault'],
  'api::writer.writer': ['age', 'salary', 'secret', 'pin', 'portrait', 'account'],
  'shared.box': ['hidden', 'pin'],
  'shared.shelf': [],
}

const LEADS_NOWHERE = new Set(['vault', 'account'])

const unreadable = (holder: Holder): readonly Attribute[] =>
  (UNREADABLE[holder.uid] ?? []).flatMap(name => holder.attributes.get(name) ?? [])

/** Ways of up to three steps whose every step is readable: beyond an unreadable one everything is refused anyway. */
const openWays = waysFrom(book, 3).filter(({ steps, end }) => {
  const holders = [
    book as Holder,
    ...steps.map(step => (step.kind === 'component' ? step.component : step.target)),
  ]
  const names = steps.map((step, index) => (UNREADABLE[holders[index]?.uid ?? ''] ?? []).includes(step.name))
  return !names.includes(true) && end.uid in UNREADABLE
})

test('unreadable attributes are refused by every operator on every path, over up to three hops', t => {
  let tried = 0
  for (const way of openWays) {
    for (const attribute of unreadable(way.end)) {
      for (const { by, query } of probes(book, way, attribute)) {
        const silent = LEADS_NOWHERE.has(attribute.name) && by.endsWith('fields or populate')
        const restricted = restrict(query, access.publicCaller)
        const place = [...way.steps.map(step => step.name), attribute.name].join('.')
        tried++
        if (silent) {
          t.true(restricted.ok, `${by} ${place}`)
          t.false(
            JSON.stringify(namesIn(passed(restricted).selection)).includes(attribute.name),
            `${by} ${place}`,
          )
        } else if (restricted.ok) t.fail(`${by} reached ${place}`)
        else if (restricted.reasons[0]?.details.key !== attribute.name) t.fail(`${by} ${place}: wrong key`)
      }
    }
  }
  t.true(tried > 4000, `${tried} tried`)
})

test('an unreadable step refuses the whole path behind it', t => {
  const behind = waysFrom(book, 2).filter(({ steps }) => ['sequel', 'vault'].includes(steps[0]?.name ?? ''))
  for (const way of behind) {
    const id = scalarOf(way.end, 'id')
    for (const { by, query } of probes(book, way, id)) {
      if (by === 'filters' || by === 'sort') t.false(restrict(query, access.publicCaller).ok, by)
    }
  }
  t.true(behind.length > 1)
})

test('private attributes and passwords are refused to a full-access token like to every caller', t => {
  for (const way of waysFrom(book, 2)) {
    for (const attribute of way.end.attributes.values()) {
      const secret = attribute.private || (attribute.kind === 'scalar' && attribute.type === 'password')
      for (const { by, query } of secret ? probes(book, way, attribute) : []) {
        const path = [...way.steps.map(step => step.name), attribute.name].join('.')
        if (restrict(query, all).ok) t.fail(`${by} reached ${path}`)
      }
    }
  }
  t.pass()
})

test('unreadable fields are omitted unless they were named, at every depth', t => {
  const writer = typeOf(model, 'writer')
  const inner = populate(attributeOf(book, 'writer', 'relation'), 'all')
  const parts = populate(attributeOf(book, 'parts', 'zone'), 'all')
  const query = listOf(book, { selection: { ...everything(book), populate: [inner, parts] } })
  const { selection } = passed(restrict(query, access.publicCaller))
  t.deepEqual(namesIn(selection), {
    fields: ['id', 'documentId', 'title', 'createdAt', 'updatedAt', 'publishedAt', 'locale'],
    writer: { fields: ['id', 'documentId', 'name', 'createdAt', 'updatedAt', 'publishedAt'] },
    'parts.shared.box': { fields: ['id', 'label'] },
    'parts.shared.shelf': { fields: ['id', 'label'] },
  })
  t.true(writer.attributes.has('salary'))
})

test('a search looks only through readable attributes', t => {
  const attributes = ['title', 'price', 'secret', 'pin', 'documentId'].map(name => scalarOf(book, name))
  const { search } = passed(
    restrict(listOf(book, { search: { text: 'x', attributes } }), access.publicCaller),
  )
  t.deepEqual(
    search?.attributes.map(({ name }) => name),
    ['title', 'documentId'],
  )
})

test('permission for an attribute does not cover one of the same name of another type', t => {
  const stranger = { ...scalarOf(book, 'title') }
  const filter = { kind: 'comparison', attribute: stranger, operator: '$eq', values: ['x'] } as const
  t.false(restrict(listOf(book, { filter }), access.publicCaller).ok)
  t.false(
    restrict(
      listOf(book, { filter: { ...filter, attribute: scalarOf(typeOf(model, 'writer'), 'name') } }),
      all,
    ).ok,
  )
})

test('a query node of an unknown kind is refused', t => {
  const filter = { kind: 'raw', sql: 'true' } as never
  t.is(codeOf(restrict(listOf(book, { filter }), all)), 'forbidden')
  const odd = { ...populate(attributeOf(book, 'writer', 'relation')), kind: 'raw' } as never
  t.is(
    codeOf(restrict(listOf(book, { selection: { ...everything(book), populate: [odd] } }), all)),
    'forbidden',
  )
})

test('a query that needs no restriction passes unchanged', t => {
  const selection = { fields: [scalarOf(book, 'title')], named: true, populate: [] }
  const query = listOf(book, { selection })
  t.is(passed(restrict(query, access.publicCaller)) as unknown, query)
})

const codeOf = (result: ReturnType<typeof restrict>) => (result.ok ? 'ok' : result.reasons[0]?.code)

type Names = { readonly [key: string]: Names | readonly string[] }

/** The keys of the answer, as a tree. */
function namesIn({ fields, populate: inner }: ReturnType<typeof everything>): Names {
  const populated = inner.flatMap(each =>
    'parts' in each
      ? each.parts.map(part => [`${each.as}.${part.holder.uid}`, namesIn(part.selection)] as const)
      : [[each.as, namesIn(each.selection)] as const],
  )
  return { fields: fields.map(({ name }) => name), ...Object.fromEntries(populated) }
}
