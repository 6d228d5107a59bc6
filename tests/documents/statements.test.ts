import test from 'ava'
import { modelOf } from '../model/compiled.ts'
import { roundTrips } from './round-trips.ts'
import { names, openWriting, type Row, refusal, type Writing } from './writing.ts'

const RELATIONS = Array.from({ length: 10 }, (_, index) => `r${index}`)

const model = await modelOf(`
i18n: { defaultLocale: en, locales: [en, fr] }
components:
  shared.seo: { attributes: { title: string } }
contentTypes:
  note:
    attributes:
      name: { type: string, required: true }
      code: { type: string, unique: true }
      count: integer
      friends: { type: relation, relation: manyToMany, target: note }
      seo: { type: component, component: shared.seo, repeatable: true }
  page:
    draftAndPublish: true
    localized: true
    attributes:
      name: { type: string, required: true }
      count: { type: integer, localized: false }
      note: { type: relation, relation: manyToOne, target: note }
  story:
    draftAndPublish: true
    attributes:
      name: string
      count: integer
      notes: { type: relation, relation: manyToMany, target: note }
      seo: { type: component, component: shared.seo, repeatable: true }
  coded: { draftAndPublish: true, attributes: { code: { type: string, unique: true }, number: { type: integer, unique: true } } }
  part:
    draftAndPublish: true
    attributes:
      code: { type: string, unique: true }
      main: { type: relation, relation: manyToOne, target: part, inversedBy: parts }
      parts: { type: relation, relation: oneToMany, target: part, mappedBy: main }
      others: { type: relation, relation: manyToMany, target: story }
  hub:
    attributes:
      name: string
      page: { type: relation, relation: manyToOne, target: page }
${RELATIONS.map((name, index) => `      ${name}: { type: relation, relation: ${index % 2 ? 'manyToOne' : 'manyToMany'}, target: note }`).join('\n')}
`)

function must<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('it is not there')
  return value
}

/** The statements between BEGIN and COMMIT. */
async function count({ statements }: Writing, work: () => Promise<unknown>): Promise<readonly string[]> {
  statements.length = 0
  await work()
  return [...statements]
}

test.serial(
  'updating two plain fields takes at most four statements, publishing one more for each kind of list, shared values one lock',
  async t => {
    const writing = await openWriting(t, model)
    const { create, update } = writing
    const most = { note: [3, 3], page: [4, 5], story: [3, 6] } as const
    for (const [kind, [draft, published]] of Object.entries(most)) {
      const made = await create(kind, { name: 'a' })
      const values = { name: 'b', count: 2 }
      const drafted = await count(writing, () => update(kind, made.documentId, values, { status: 'draft' }))
      t.true(drafted.length <= draft, drafted.join('\n'))
      const done = await count(writing, () => update(kind, made.documentId, { name: 'c', count: 3 }))
      t.true(done.length <= published, done.join('\n'))
    }
  },
)

test.serial('a document with ten relations is created in as many statements as with one', async t => {
  const writing = await openWriting(t, model)
  const { create } = writing
  const notes: unknown[] = []
  for (const name of RELATIONS) notes.push((await create('note', { name })).documentId)
  const made = async (kind: string, values: Row) => (await count(writing, () => create(kind, values))).length
  const relations = RELATIONS.map((name, index) => [name, notes[index]] as const)
  const none = await made('hub', { name: 'none' })
  const one = await made('hub', Object.fromEntries(relations.slice(0, 1)))
  const ten = await made('hub', Object.fromEntries(relations))
  t.true(ten <= one && one <= none + 1, `${none}, ${one}, ${ten}`)
  const items = notes.map(title => ({ title }))
  t.is(await made('story', { notes, seo: items }), await made('story', { notes: notes.slice(9), seo: [] }))
})

test.serial('documents are created complete with all their relations and components', async t => {
  const { create, find } = await openWriting(t, model)
  const notes: unknown[] = []
  for (const name of RELATIONS) notes.push((await create('note', { name })).documentId)
  const hub = await create('hub', Object.fromEntries(RELATIONS.map((name, index) => [name, notes[index]])))
  for (const name of RELATIONS) t.deepEqual([names(hub[name])].flat(), [name])
  const story = await create('story', { notes, seo: [{ title: 'a' }, { title: 'b' }] }, { status: 'draft' })
  const found = await find('story', story.documentId, { status: 'draft' })
  t.deepEqual([names(found?.notes), names(found?.seo, 'title')], [RELATIONS, ['a', 'b']])
})

test.serial('any number of rows is inserted, updated and deleted in the same statements', async t => {
  const { create, update, find } = await openWriting(t, model)
  const titles = (count: number) => Array.from({ length: count }, (_, index) => ({ title: `t${index}` }))
  for (const count of [1, 2, 11, 12, 13, 40]) {
    const { documentId } = await create('story', { name: 'a', seo: titles(count) })
    const whole = await find('story', documentId)
    t.deepEqual(names(whole?.seo, 'title'), names(titles(count), 'title'))
    const items = (whole?.seo ?? []) as readonly Row[]
    const kept = items.slice(0, 2).map(({ id }) => ({ id, title: 'kept' }))
    await update('story', documentId, { seo: kept })
    t.deepEqual((await find('story', documentId))?.seo, kept)
    await update('story', documentId, { seo: [] })
    t.deepEqual((await find('story', documentId))?.seo, [])
  }
})

test.serial('one statement creates a document and returns it, if no lookup is needed', async t => {
  const writing = await openWriting(t, model)
  const { create, find } = writing
  const plainly = { plainly: { filter: null } } as const
  const main = await create('part', { code: 'main' }, plainly)
  const made = (where: object) =>
    create('part', { code: `c${writing.statements.length}`, main: main.documentId }, where)
  await made(plainly)
  for (const status of ['draft', 'published'] as const) {
    let part: Row = {}
    const statements = await count(writing, async () => {
      part = await made({ ...plainly, status })
    })
    t.deepEqual(statements, ['insert into parts'])
    t.deepEqual({ ...part }, { ...(await find('part', part.documentId, { ...plainly, status })) })
    t.is(typeof part.documentId, 'string')
  }
  // Other rows of the same table are looked for where they are.
  const type = must(model.contentTypes.get('api::part.part'))
  const [link, code] = [must(type.attributes.get('main')), must(type.attributes.get('code'))]
  if (link.kind !== 'relation' || code.kind !== 'scalar') return t.fail()
  const isMain = { kind: 'comparison', attribute: code, operator: '$eq', values: ['main'] } as const
  const filter = { kind: 'related', attribute: link, scope: null, filter: isMain } as const
  const below = await made({ plainly: { filter } })
  t.is(typeof below.documentId, 'string')
  const other = await create('part', { code: 'other' }, { plainly: { filter } })
  t.deepEqual(other, {})
})

test.serial('documents are created even after the sequence of their ids was renamed', async t => {
  const { create, rows } = await openWriting(t, model)
  const before = await create('note', { name: 'a' })
  await rows('ALTER SEQUENCE notes_id_seq RENAME TO numbers')
  const after = await create('note', { name: 'b' })
  t.is(Number(after.id), Number(before.id) + 1)
  await rows('ALTER SEQUENCE numbers RENAME TO notes_id_seq')
  t.is(Number((await create('note', { name: 'c', seo: [{ title: 'a' }] })).id), Number(before.id) + 2)
})

test.serial(
  'a write takes one round trip for its checks and one for its changes; without checks it takes one',
  async t => {
    const { create, update, tryCreate } = await openWriting(t, model)
    const note = await create('note', { name: 'a' })
    const count = (work: () => Promise<unknown>) => roundTrips(work)
    t.is(await count(() => create('note', { name: 'b' })), 1)
    t.is(await count(() => create('note', { name: 'c', seo: [{ title: 'a' }, { title: 'b' }] })), 1)
    // A link target is read once, and then verified together with the write.
    t.is(await count(() => create('story', { name: 'a', notes: [note.documentId] })), 2)
    t.is(await count(() => create('story', { name: 'b', notes: [note.documentId] })), 1)
    t.is(await count(() => create('hub', { name: 'a', r0: [note.documentId], r1: note.documentId })), 1)
    t.is(await count(() => create('page', { name: 'a', note: note.documentId }, { locale: 'fr' })), 1)
    const strict = { strict: true } as const
    t.is(await count(() => create('note', { name: 'd', code: 'd' }, strict)), 1)
    t.is(await count(() => create('story', { name: 'c', notes: [note.documentId] }, strict)), 1)
    t.is(await count(() => create('story', { name: 'd' }, { ...strict, status: 'draft' })), 1)
    t.is(await count(() => create('coded', { code: 'a' }, strict)), 1)
    const taken = await tryCreate('coded', { code: 'a' }, { ...strict, status: 'draft' })
    t.is(refusal(taken).message, 'This attribute must be unique')
    const story = await create('story', { name: 'a' })
    const id = story.documentId
    t.is(await count(() => update('note', note.documentId, { name: 'b' })), 1)
    t.is(await count(() => update('story', id, { name: 'b' }, { status: 'draft' })), 1)
    t.is(await count(() => update('story', id, { name: 'b', notes: [note.documentId] })), 2)
    t.is(await count(() => update('story', id, { notes: { disconnect: [note.documentId] } })), 1)
    t.is(await count(() => update('story', id, { seo: [{ title: 'a' }] }, { tags: ['*'] })), 1)
    const always = { kind: 'and', filters: [] } as const
    const conditions = { before: always, after: always }
    t.is(await count(() => update('story', id, { name: 'c' }, { conditions })), 1)
  },
)

test.serial(
  'a change of status, or a deletion, takes one round trip for its checks and one for its changes; without checks it takes one',
  async t => {
    const { create, update, change, remove } = await openWriting(t, model)
    const draft = { status: 'draft' } as const
    const always = { before: { kind: 'and', filters: [] } } as const
    const note = await create('note', { name: 'a' })
    const values = { name: 'a', notes: [note.documentId], seo: [{ title: 'a' }] }
    const { documentId: id } = await create('story', values, draft)
    const changed = async (kind: string, documentId: unknown, where = {}) => {
      const counts: number[] = []
      for (const each of ['publish', 'unpublish', 'publish', 'discardDraft'] as const)
        counts.push(await roundTrips(() => change(each, kind, documentId, where)))
      return counts
    }
    t.deepEqual(await changed('story', id), [1, 1, 1, 2])
    t.deepEqual(await changed('story', id, { conditions: always }), [1, 1, 1, 2])
    // Conflicting values, and owners that publishing synchronises, are read once the new state is known.
    const main = await create('part', { code: 'a' })
    const part = await create('part', { code: 'b', main: main.documentId, others: [id] }, draft)
    t.deepEqual(await changed('part', part.documentId), [3, 1, 3, 3])
    const coded = await create('coded', { code: 'b', number: 1 }, draft)
    t.deepEqual(await changed('coded', coded.documentId), [1, 1, 1, 2])
    const page = await create('page', { name: 'a', count: 1 })
    await update('page', page.documentId, { name: 'b' }, { locale: 'fr' })
    const [, ...others] = await changed('page', page.documentId, { all: true })
    t.deepEqual(others.toSpliced(1, 1), [2, 2])
    const removed = (kind: string, documentId: unknown, where = {}) =>
      roundTrips(() => remove(kind, documentId, where))
    t.is(await removed('page', page.documentId, { locale: 'fr' }), 2)
    t.is(await removed('part', part.documentId, { tags: ['*'] }), 1)
    t.is(await removed('story', id, { conditions: always, tags: ['none', '*'] }), 1)
    t.is(await removed('note', note.documentId), 1)
  },
)

test.serial('former link targets are verified when they are linked again', async t => {
  const { create, update, remove, tryCreate, rows } = await openWriting(t, model)
  const note = await create('note', { name: 'a' })
  const page = await create('page', { name: 'a' }, { locale: 'en' })
  await update('page', page.documentId, { name: 'b' }, { locale: 'fr' })
  const inFrench = { page: { connect: [{ documentId: page.documentId, locale: 'fr' }] } }
  for (let time = 0; time < 2; time++)
    await create('hub', { r0: [note.documentId], r1: note.documentId, ...inFrench })
  await remove('page', page.documentId, { locale: 'fr' })
  const withoutLocale = await tryCreate('hub', { r1: note.documentId, ...inFrench })
  t.regex(String(refusal(withoutLocale).message), /locale "fr" not found/)
  await remove('note', note.documentId)
  for (const values of [{ r0: [note.documentId] }, { r1: note.documentId }])
    t.regex(String(refusal(await tryCreate('hub', values)).message), new RegExp(`"${note.documentId}"`))
  t.deepEqual(await rows('SELECT count(*) FROM hubs'), [[2]])
})

test.serial('all errors of a new document are reported together, unique conflicts included', async t => {
  const { create, tryCreate, rows } = await openWriting(t, model)
  await create('note', { name: 'a', code: 'taken' })
  const paths = (error: Record<string, unknown>) =>
    (error.details as { errors: { path: string[] }[] }).errors.map(({ path }) => path.join('.'))
  t.deepEqual(paths(refusal(await tryCreate('note', { name: 'b', code: 'taken' }))), ['code'])
  t.deepEqual(paths(refusal(await tryCreate('note', { code: 'taken' }))), ['name', 'code'])
  t.deepEqual(await rows('SELECT count(*) FROM notes'), [[1]])
})
