import test from 'ava'
import { trusted } from '../../core/access/brand.ts'
import type { Caller } from '../../core/access/caller.ts'
import { type Fault, toErrorBody } from '../../core/faults/fault.ts'
import type { ContentType } from '../../core/model/model.ts'
import type { Filter, LinkPopulate, Populate, Query, Sort } from '../../core/query/query.ts'
import { parseFilter, restrict } from '../harness/attempts.ts'
import { populate } from './oracle.ts'
import { attributeOf, everything, listOf, passed, scalarOf, typeOf, world } from './project.ts'

const { model, access } = await world(`
roles:
  public:
    permissions: { book: [find, findOne] }
  reviewer:
    permissions: { book: [find, readDrafts] }
  authenticated:
    permissions:
      book: { find: { where: { price: { $gt: 5 } } }, readDrafts: false }
      writer: { find: { where: { account: { id: { $eq: $user.id } } } } }
  named:
    permissions:
      book: { find: { where: { title: { $startsWith: $user.nickname } } } }
      writer: { find: { where: { $or: [{ name: { $contains: $user.nickname } }, { age: 7 }] } } }
  editor:
    permissions:
      book: { find: true, create: true, readDrafts: { where: { title: { $notNull: true } } } }
apiTokens:
  all: { type: full-access, secret: all-all-all-all-all-all }
  read: { type: read-only, secret: read-read-read-read-read }
`)
const book = typeOf(model, 'book')
const writer = typeOf(model, 'writer')

const token = (name: string): Caller => as(access.tokens.get(name), 'token')
const user = (role: string, values: Caller['user'] = { id: 7 }): Caller => ({
  ...as(access.roles.get(role), 'user'),
  user: values,
})

function as(grants: Caller['grants'] | undefined, kind: Caller['kind']): Caller {
  if (!grants) throw new Error('no such role or token')
  return { kind, grants, user: null }
}

const filterOn = (type: ContentType, written: unknown): Filter => passed(parseFilter(written, type))

const refusal = (query: Query, caller: Caller): unknown => {
  const restricted = restrict(query, caller)
  return restricted.ok ? 'passed' : errorOf(restricted.reasons[0])
}

const errorOf = (fault: Fault | undefined): unknown => fault && toErrorBody(fault).error

const bad = (key: string, path: string, param: string) => ({
  status: 400,
  name: 'ValidationError',
  message: key === path ? `Invalid key ${key}` : `Invalid key ${key} at ${path}`,
  details: { key, path, source: 'query', param },
})

const FORBIDDEN = { status: 403, name: 'ForbiddenError', message: 'Forbidden', details: {} }

const along = (...names: readonly ('writer' | 'books')[]): Sort['path'] =>
  names.map(name => ({
    attribute: attributeOf(name === 'writer' ? book : writer, name, 'relation'),
    scope: null,
  }))

const populating = (...parts: readonly Populate[]): Query =>
  listOf(book, { selection: { fields: [], named: true, populate: parts } })

test('actions without a permission are forbidden, for lists, single documents and unknown ids alike', t => {
  const one: Query = { ...listOf(writer), take: { kind: 'one', documentId: 'unknown' } }
  t.deepEqual(refusal(listOf(writer), access.publicCaller), FORBIDDEN)
  t.deepEqual(refusal(one, access.publicCaller), FORBIDDEN)
  t.deepEqual(refusal(listOf(model.builtIn.user), access.publicCaller), FORBIDDEN)
  t.is(refusal(listOf(model.builtIn.user), token('read')), 'passed')
  t.is(refusal(one, token('read')), 'passed')
})

test('one document requires findOne; a list and a single type require find', t => {
  const one: Query = { ...listOf(book), take: { kind: 'one', documentId: 'x' } }
  t.deepEqual(refusal(one, user('editor')), FORBIDDEN)
  t.is(refusal({ ...one, type: { ...book, kind: 'single' } }, user('editor')), 'passed')
  t.is(refusal(one, access.publicCaller), 'passed')
})

test('an invalid key is reported with its path: filters and sort from the root, populate from its own level', t => {
  const private3 = filterOn(book, { $or: [{ sequel: { sequel: { secret: 'x' } } }] })
  t.deepEqual(
    refusal(listOf(book, { filter: private3 }), access.publicCaller),
    bad('secret', 'sequel.sequel.secret', 'filters'),
  )
  const forbidden = filterOn(book, { sequel: { writer: { name: 'x' } } })
  t.deepEqual(
    refusal(listOf(book, { filter: forbidden }), access.publicCaller),
    bad('writer', 'sequel.writer', 'filters'),
  )
  const sort: Sort = { path: along('writer'), attribute: scalarOf(writer, 'name'), direction: 'asc' }
  t.deepEqual(refusal(listOf(book, { sort: [sort] }), access.publicCaller), bad('writer', 'writer', 'sort'))
  const deep: Sort = {
    path: along('writer', 'books', 'writer'),
    attribute: scalarOf(writer, 'pin'),
    direction: 'asc',
  }
  t.deepEqual(
    refusal(listOf(book, { sort: [deep] }), token('all')),
    bad('pin', 'writer.books.writer.pin', 'sort'),
  )
  const fields = { fields: [scalarOf(book, 'secret')], named: true, populate: [] }
  t.deepEqual(refusal(listOf(book, { selection: fields }), token('all')), bad('secret', 'secret', 'fields'))
  const inside = { ...link('sequel'), selection: fields }
  t.deepEqual(refusal(populating(inside), access.publicCaller), bad('secret', 'secret', 'populate'))
  const filtered = { ...link('sequel'), filter: filterOn(book, { sequel: { secret: 'x' } }) }
  t.deepEqual(refusal(populating(filtered), access.publicCaller), bad('secret', 'sequel.secret', 'populate'))
})

test('invalid keys are reported in the order filters, sort, fields, populate', t => {
  const everywhere = {
    filter: filterOn(book, { secret: 'x' }),
    sort: [{ path: [], attribute: scalarOf(book, 'pin'), direction: 'asc' as const }],
  }
  t.deepEqual(refusal(listOf(book, everywhere), token('all')), bad('secret', 'secret', 'filters'))
})

function link(name: string, parts: Partial<LinkPopulate> = {}): LinkPopulate {
  const inner = populate(attributeOf(book, name, 'relation'))
  if (inner.kind !== 'link') throw new Error(`${name} is no link`)
  return { ...inner, ...parts }
}

const keysOf = (query: Query, caller: Caller): unknown =>
  passed(restrict(query, caller)).selection.populate.map(({ as }) => as)

test('populating a type that the caller may not find is omitted silently; media and locales are shown', t => {
  const cover = populate(attributeOf(writer, 'portrait', 'media'))
  const writers = listOf(writer, { selection: { ...everything(writer), populate: [cover] } })
  t.deepEqual(keysOf(writers, user('authenticated')), ['portrait'])
  const others = populate(attributeOf(book, 'localizations', 'localizations'))
  t.deepEqual(keysOf(populating(link('writer'), others, link('sequel')), access.publicCaller), [
    'localizations',
    'sequel',
  ])
  const hidden = { ...link('writer'), filter: filterOn(writer, { secret: 'x' }) }
  t.deepEqual(keysOf(populating(hidden), access.publicCaller), [])
})

test('populating a.b omits a if b is omitted, unless a is also requested itself', t => {
  const way = (inner: readonly Populate[], asked: Populate['origin'] = 'passed') =>
    link('sequel', { origin: asked, selection: { ...everything(book), populate: inner } })
  t.deepEqual(keysOf(populating(way([link('writer')])), access.publicCaller), [])
  t.deepEqual(keysOf(populating(way([link('writer'), link('sequel')])), access.publicCaller), ['sequel'])
  t.deepEqual(keysOf(populating(way([link('writer')], 'named')), access.publicCaller), ['sequel'])
  t.deepEqual(keysOf(populating(way([way([link('writer')])])), access.publicCaller), [])
  const box = attributeOf(book, 'box', 'component')
  const inner = populate(attributeOf(box.component, 'writer', 'relation'))
  const passing = {
    ...populate(box, 'passed'),
    selection: { ...everything(box.component), populate: [inner] },
  }
  t.deepEqual(keysOf(populating(passing as Populate), access.publicCaller), [])
  t.deepEqual(keysOf(populating(passing as Populate), token('read')), ['box'])
})

test('a dotted populate of a private attribute is reported with the whole path', t => {
  const secret = { ...link('vault'), attribute: { ...attributeOf(book, 'vault', 'relation'), private: true } }
  const way = link('sequel', { origin: 'passed', selection: { ...everything(book), populate: [secret] } })
  t.deepEqual(refusal(populating(way), access.publicCaller), bad('vault', 'sequel.vault', 'populate'))
})

test('a condition is added to the query and to every relation that leads to its documents', t => {
  const asked = filterOn(book, { title: 'x' })
  const mine = filterOn(book, { price: { $gt: 5 } })
  const caller = user('authenticated')
  t.deepEqual(passed(restrict(listOf(book), caller)).filter, mine)
  t.deepEqual(passed(restrict(listOf(book, { filter: asked }), caller)).filter, {
    kind: 'and',
    filters: [mine, asked],
  })
  const related = filterOn(book, { sequel: { title: 'x' } })
  const { filter } = passed(
    restrict(listOf(writer, { filter: filterOn(writer, { books: { title: 'x' } }) }), caller),
  )
  const own = filterOn(writer, { account: { id: 7 } })
  const books = attributeOf(writer, 'books', 'relation')
  const scope = { status: null, where: mine }
  t.deepEqual(filter, {
    kind: 'and',
    filters: [own, { kind: 'related', attribute: books, scope, filter: asked }],
  })
  const sort: Sort = { path: along('writer'), attribute: scalarOf(writer, 'name'), direction: 'asc' }
  const narrowed = passed(restrict(listOf(book, { sort: [sort], filter: related }), caller))
  t.deepEqual(narrowed.sort[0]?.path[0]?.scope, { status: null, where: own })
  const shown = passed(restrict(populating(link('writer')), caller)).selection.populate[0]
  t.deepEqual(shown?.kind === 'link' && shown.scope, { status: null, where: own })
})

test('a condition on $user matches nothing for anonymous callers and for users without that value', t => {
  const nothing: Filter = { kind: 'or', filters: [] }
  for (const values of [
    null,
    {},
    { id: null },
    { id: { $gt: 0 } },
    { id: [1, 2] },
    { id: 'seven' },
    { id: '' },
  ]) {
    t.deepEqual(
      passed(restrict(listOf(writer), user('authenticated', values))).filter,
      nothing,
      JSON.stringify(values),
    )
  }
  t.deepEqual(
    passed(restrict(listOf(writer), user('authenticated', JSON.parse('{"__proto__":{"id":7}}')))).filter,
    nothing,
  )
})

test('an empty text of a user counts as no value, because every text contains it', t => {
  const nothing: Filter = { kind: 'or', filters: [] }
  for (const type of [book, writer]) {
    const seenBy = (nickname: string) => passed(restrict(listOf(type), user('named', { nickname }))).filter
    t.deepEqual(seenBy(''), nothing, type.uid)
    t.notDeepEqual(seenBy(' '), nothing, type.uid)
  }
})

test('drafts are refused without draft access, and relations then use published versions', t => {
  const caller = user('authenticated')
  t.deepEqual(refusal(listOf(book, { status: 'draft' }), caller), FORBIDDEN)
  t.deepEqual(refusal(listOf(book, { publication: 'modified' }), caller), FORBIDDEN)
  t.deepEqual(refusal(listOf(book, { status: 'draft' }), access.publicCaller), FORBIDDEN)
  t.is(refusal(listOf(book, { status: 'draft' }), user('reviewer')), 'passed')
  const books = populate(attributeOf(writer, 'books', 'relation'))
  const back = populate(attributeOf(book, 'writer', 'relation'))
  const nested = { ...books, selection: { ...everything(book), populate: [back] } } as Populate
  const drafts = listOf(writer, { status: 'draft', selection: { ...everything(writer), populate: [nested] } })
  const [first] = passed(restrict(drafts, caller)).selection.populate
  t.is(first?.kind === 'link' ? first.scope?.status : null, 'published')
  const [second] = passed(restrict(drafts, token('read'))).selection.populate
  t.is(second?.kind === 'link' ? second.scope : undefined, null)
})

test('draft access with a condition covers only matching drafts', t => {
  const { filter } = passed(restrict(listOf(book, { status: 'draft' }), user('editor')))
  t.deepEqual(filter, filterOn(book, { title: { $notNull: true } }))
  t.is(passed(restrict(listOf(book), user('editor'))).filter, null)
})

test('the response of a write requires write permission and contains only readable values', t => {
  const query = listOf(book, { selection: { ...everything(book), populate: [link('writer')] } })
  const answer = passed(restrict(query, user('editor'), 'create'))
  t.deepEqual(answer.selection.populate, [])
  t.false(answer.selection.fields.some(({ name }) => name === 'secret' || name === 'pin'))
  t.false(restrict(query, user('editor'), 'update').ok)
})

test('trusted code sees everything except passwords, at every depth', t => {
  const query = listOf(book, { selection: { ...everything(book), populate: [link('writer')] } })
  const { selection } = trusted(query)
  const names = selection.fields.map(({ name }) => name)
  t.true(names.includes('secret'))
  t.false(names.includes('pin'))
  const [inner] = selection.populate
  t.false(inner?.kind === 'link' && inner.selection.fields.some(({ name }) => name === 'pin'))
})
