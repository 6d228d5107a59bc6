import test from 'ava'
import { modelOf } from '../model/compiled.ts'
import { roundTrips } from './round-trips.ts'
import { openWriting, type Row, refusal, type Where, type Writing } from './writing.ts'

const model = await modelOf(`
i18n: { defaultLocale: en, locales: [en, fr] }
components:
  part.line: { attributes: { text: { type: string, required: true, maxLength: 9 }, note: { type: relation, relation: manyToOne, target: note } } }
  part.block:
    attributes:
      name: string
      size: { type: integer, min: 1 }
      lines: { type: component, component: part.line, repeatable: true }
      notes: { type: relation, relation: oneToMany, target: note }
  part.secret: { attributes: { secret: password } }
  part.code: { attributes: { code: { type: string, unique: true } } }
contentTypes:
  note: { draftAndPublish: true, attributes: { name: string } }
  post:
    draftAndPublish: true
    attributes:
      title: string
      seo: { type: component, component: part.block }
      blocks: { type: component, component: part.block, repeatable: true, min: 1 }
      zone: { type: dynamiczone, components: [part.line, part.block] }
      secret: { type: component, component: part.secret }
      codes: { type: component, component: part.code, repeatable: true }
  article:
    draftAndPublish: true
    attributes:
      title: string
      seo: { type: component, component: part.block, required: true }
      blocks: { type: component, component: part.block, repeatable: true, min: 2 }
      zone: { type: dynamiczone, components: [part.line, part.block], min: 1 }
  page:
    attributes:
      title: string
      blocks: { type: component, component: part.block, repeatable: true }
  story:
    draftAndPublish: true
    localized: true
    attributes:
      title: string
      blocks: { type: component, component: part.block, repeatable: true }
`)

const DRAFT: Where = { status: 'draft' }

/** How a write is made: in one round trip, and after it loaded the document. */
const WAYS = ['once', 'loading'] as const

/** What a document stores in the tables of components and of their links, with ids by their order, and without the places of links, which a sequence numbers. */
async function partsOf({ rows }: Writing, type: string, documentId: unknown): Promise<unknown> {
  const table = type === 'story' ? 'stories' : `${type}s`
  const key = type === 'page' ? 'id' : 'document_key'
  const keys = `SELECT ${key} FROM ${table} WHERE document_id = '${documentId}'`
  const blocks = `SELECT id FROM components_part_block WHERE owner LIKE '${type}.%' AND owner_key IN (${keys})`
  const order = (id: string) => `dense_rank() OVER (ORDER BY ${id})`
  const own = 'c.status, c.owner, c.locale, c.position'
  return Promise.all(
    [
      `SELECT ${order('c.id')}, ${own}, name, size FROM components_part_block c WHERE id IN (${blocks}) ORDER BY c.status, c.locale, c.owner, c.position`,
      `SELECT ${order('c.id')}, ${own}, text, to_jsonb(c) - 'id' - 'owner_key' FROM components_part_line c WHERE (owner LIKE '${type}.%' AND owner_key IN (${keys})) OR (owner LIKE 'part.%' AND owner_key IN (${blocks})) ORDER BY c.status, c.locale, c.owner, c.owner_key, c.position`,
      `SELECT ${order('owner_id')}, to_jsonb(l) - 'id' - 'owner_id' - 'position' FROM components_part_block_notes_links l WHERE owner_id IN (${blocks}) ORDER BY owner_status, owner_id, l.position, l.id`,
      `SELECT c.status, c.secret LIKE '$2%' FROM components_part_secret c WHERE owner LIKE '${type}.%' AND owner_key IN (${keys}) ORDER BY 1`,
      `SELECT count(*) FROM components_part_line WHERE owner LIKE 'part.%' AND owner_key NOT IN (SELECT id FROM components_part_block)`,
      `SELECT ${order('updated_at')}, title, ${type === 'page' ? 'true' : 'status'} FROM ${table} WHERE document_id = '${documentId}' ORDER BY 3`,
    ].map(rows),
  )
}

test.serial('components are replaced in one round trip, as by the path that loads the document', async t => {
  const writing = await openWriting(t, model)
  const { create, update, change, loading } = writing
  const notes: unknown[] = []
  for (const name of ['a', 'b']) notes.push((await create('note', { name })).documentId)
  const [a, b] = notes
  const line = (text: string, note: unknown = null) => ({ text, note })
  const full = {
    name: 'one',
    size: 3,
    lines: [line('x', a), line('y')],
    notes: { connect: [b, a] },
  }
  const zone = [
    { __component: 'part.line', ...line('in zone', b) },
    { __component: 'part.block', name: 'last', lines: [line('z')] },
  ]
  const whole = { title: 'first', seo: full, blocks: [full, { name: 'two', lines: [line('m', b)] }], zone }
  const french: Where = { locale: 'fr' }
  const steps: Readonly<Record<string, readonly (readonly [Row, Where] | 'publish' | 'unpublish')[]>> = {
    post: [
      [
        {
          title: 'new',
          seo: { name: 'seo' },
          blocks: [full, { name: 'two' }],
          zone,
          codes: [],
          secret: { secret: 'of old' },
        },
        {},
      ],
      [
        {
          blocks: [{ name: 'only', notes: [a] }],
          seo: null,
          zone: zone.toReversed(),
          codes: [],
          secret: null,
        },
        {},
      ],
      [{ blocks: [full] }, DRAFT],
      [{ zone: [], seo: { lines: [line('l')] } }, DRAFT],
      'publish',
      'unpublish',
      [{ blocks: [], zone }, DRAFT],
      [{ seo: full, blocks: [full], zone, codes: [], secret: { secret: 'of now' } }, {}],
    ],
    article: [
      [{ title: 'new' }, {}],
      [{ title: 'newer' }, DRAFT],
      [{ title: 'newest' }, {}],
      [{ blocks: [{ name: 'a' }, full] }, DRAFT],
      [{ seo: { name: 'other' } }, {}],
      [{ zone: zone.toReversed() }, {}],
      'unpublish',
      'publish',
      [{ title: 'kept' }, {}],
      'unpublish',
      [{ blocks: [], title: 'with the rest' }, {}],
      [{}, {}],
    ],
    page: [
      [{ blocks: [full, { name: 'two' }] }, {}],
      [{ blocks: [{ notes: [b], lines: [line('n', b)] }] }, {}],
      [{ title: 'kept' }, {}],
      [{ blocks: [] }, {}],
    ],
    story: [
      [{ title: 'the' }, {}],
      [{ blocks: [full] }, {}],
      [{ title: 'une', blocks: [full, { name: 'deux' }] }, french],
      [{ blocks: [{ name: 'trois' }] }, french],
      [{ title: 'deux' }, french],
      [{ blocks: [] }, DRAFT],
      [{ blocks: [full] }, {}],
      'unpublish',
      'publish',
    ],
  }
  for (const [type, all] of Object.entries(steps)) {
    const documents = new Map<string, unknown>()
    for (const way of WAYS)
      documents.set(
        way,
        (await create(type, type === 'article' ? whole : { title: 'first', blocks: [full] })).documentId,
      )
    for (const step of all) {
      const seen: unknown[] = []
      for (const way of WAYS) {
        const id = documents.get(way)
        const write = async () =>
          typeof step === 'string'
            ? void (await change(step, type, id))
            : void (await update(type, id, ...step))
        await (way === 'loading' ? loading(write) : write())
        seen.push(await partsOf(writing, type, id))
      }
      t.deepEqual(seen[0], seen[1], `${type}: ${JSON.stringify(step)}`)
    }
    for (const id of documents.values()) await writing.remove(type, id, { all: type === 'story' })
    for (const table of ['block', 'line', 'secret', 'block_notes_links'])
      t.deepEqual(
        await writing.rows(`SELECT count(*) FROM components_part_${table}`),
        [[0]],
        `${type} ${table}`,
      )
  }
})

test.serial('an update that replaces components takes one round trip', async t => {
  const { create, update, change, remove } = await openWriting(t, model)
  const note = (await create('note', { name: 'a' })).documentId
  const block = { name: 'n', lines: [{ text: 'x', note }], notes: [note] }
  const whole = { seo: block, blocks: [block], zone: [], codes: [], secret: null }
  const post = (await create('post', { title: 'a', ...whole })).documentId
  const page = (await create('page', { title: 'a' })).documentId
  t.is(await roundTrips(() => update('post', post, whole)), 1)
  t.is(await roundTrips(() => update('post', post, { blocks: [block, block] }, DRAFT)), 1)
  t.is(await roundTrips(() => update('page', page, { blocks: [block] })), 1)
  const zone = [{ __component: 'part.line', text: 'l', note }]
  const article = (await create('article', { seo: block, blocks: [block, block], zone })).documentId
  t.is(await roundTrips(() => update('article', article, { title: 'b' })), 1)
  t.is(await roundTrips(() => update('article', article, { zone })), 1)
  await change('unpublish', 'article', article)
  t.is(await roundTrips(() => change('publish', 'article', article)), 1)
  t.is(await roundTrips(() => change('unpublish', 'article', article)), 1)
  t.is(await roundTrips(() => remove('article', article)), 1)
})

test.serial(
  'stored components that may not be published, or differ, are found by the path that loads them',
  async t => {
    const { create, update, tryUpdate, find, rows } = await openWriting(t, model)
    const block = { name: 'n', size: 1, lines: [{ text: 'x' }], notes: [] }
    const zone = [{ __component: 'part.line', text: 'l' }]
    const values = { title: 'a', seo: block, blocks: [block, block], zone }
    const faults = [
      ['UPDATE components_part_block SET size = 0', /size must be greater than or equal to 1/],
      [`UPDATE components_part_line SET text = repeat('a', 10)`, /text must be at most 9 characters/],
      [`DELETE FROM components_part_block WHERE owner = 'article.seo'`, /"seo"/],
      [
        `DELETE FROM components_part_block WHERE owner = 'article.blocks' AND position > 1024`,
        /field must have at least 2 items/,
      ],
    ] as const
    for (const status of ['draft', 'published'] as const)
      for (const [sql, message] of faults) {
        const id = String((await create('article', values, { status })).documentId)
        await rows(sql)
        t.regex(
          JSON.stringify(refusal(await tryUpdate('article', id, { title: 'b' }))),
          message,
          `${status} ${sql}`,
        )
        await rows('TRUNCATE components_part_block, components_part_line CASCADE')
      }
    const { documentId } = await create('article', values)
    await create('note', { name: 'a' })
    for (const sql of [
      `UPDATE components_part_block SET name = 'other' WHERE status = 'draft'`,
      `UPDATE components_part_line SET text = 'other' WHERE status = 'draft'`,
      `DELETE FROM components_part_line WHERE status = 'published' AND owner = 'part.block.lines'`,
      `INSERT INTO components_part_block_notes_links (owner_id, owner_status, target_key, position) SELECT id, 'draft', (SELECT min(id) FROM notes), 1 FROM components_part_block WHERE status = 'draft'`,
    ]) {
      await rows(sql)
      await update('article', documentId, { title: 'b' })
      const omitted = ['id', 'updatedAt', 'publishedAt']
      const shown = async (where: Where) =>
        JSON.stringify(await find('article', documentId, where), (key, value) =>
          omitted.includes(key) ? undefined : value,
        )
      t.is(await shown({}), await shown(DRAFT), sql)
    }
  },
)

test.serial(
  'components that the one round trip cannot write are written after the document was loaded',
  async t => {
    const { create, update, tryUpdate, rows } = await openWriting(t, model)
    const many = Array.from({ length: 30 }, (_, index) => ({ name: `${index}` }))
    const page = (await create('page', { title: 'a', blocks: [{ name: 'kept', size: 2 }] })).documentId
    const [[id]] = (await rows('SELECT id FROM components_part_block')) as [[number]]
    await update('page', page, { blocks: [{ id, name: 'renamed' }] })
    t.deepEqual(await rows('SELECT id, name, size FROM components_part_block'), [[id, 'renamed', 2]])
    await update('page', page, { blocks: many })
    t.deepEqual(await rows('SELECT count(*) FROM components_part_block'), [[many.length]])
    const [first, second] = [
      await create('post', { blocks: [{ name: 'a' }], codes: [{ code: 'taken' }] }),
      await create('post', { blocks: [{ name: 'a' }], codes: [{ code: 'free' }] }),
    ]
    const codes = { codes: [{ code: 'taken' }] }
    t.regex(String(refusal(await tryUpdate('post', String(second.documentId), codes)).message), /unique/)
    t.true((await tryUpdate('post', String(first.documentId), codes)).ok)
    const faulty = { seo: null, blocks: [{ name: 'a', size: 0 }], zone: [], codes: [] }
    t.regex(
      String(refusal(await tryUpdate('post', String(first.documentId), faulty)).message),
      /greater than or equal to 1/,
    )
  },
)
