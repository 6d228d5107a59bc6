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
      secret: password
      size: { type: integer, min: 1 }
      lines: { type: component, component: part.line, repeatable: true }
      notes: { type: relation, relation: oneToMany, target: note }
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
      codes: { type: component, component: part.code, repeatable: true }
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
  const table = { post: 'posts', page: 'pages', story: 'stories' }[type] ?? ''
  const key = type === 'page' ? 'id' : 'document_key'
  const keys = `SELECT ${key} FROM ${table} WHERE document_id = '${documentId}'`
  const blocks = `SELECT id FROM components_part_block WHERE owner LIKE '${type}.%' AND owner_key IN (${keys})`
  const order = (id: string) => `dense_rank() OVER (ORDER BY ${id})`
  const own = 'c.status, c.owner, c.locale, c.position'
  return Promise.all(
    [
      `SELECT ${order('c.id')}, ${own}, name, size, secret IS NULL FROM components_part_block c WHERE id IN (${blocks}) ORDER BY c.status, c.locale, c.owner, c.position`,
      `SELECT ${order('c.id')}, ${own}, text, to_jsonb(c) - 'id' - 'owner_key' FROM components_part_line c WHERE (owner LIKE '${type}.%' AND owner_key IN (${keys})) OR (owner LIKE 'part.%' AND owner_key IN (${blocks})) ORDER BY c.status, c.locale, c.owner, c.owner_key, c.position`,
      `SELECT ${order('owner_id')}, to_jsonb(l) - 'id' - 'owner_id' - 'position' FROM components_part_block_notes_links l WHERE owner_id IN (${blocks}) ORDER BY owner_status, owner_id, l.position, l.id`,
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
    secret: 'of old',
    size: 3,
    lines: [line('x', a), line('y')],
    notes: { connect: [b, a] },
  }
  const zone = [
    { __component: 'part.line', ...line('in zone', b) },
    { __component: 'part.block', name: 'last', lines: [line('z')] },
  ]
  const french: Where = { locale: 'fr' }
  const steps: Readonly<Record<string, readonly (readonly [Row, Where] | 'publish' | 'unpublish')[]>> = {
    post: [
      [{ title: 'new', seo: { name: 'seo' }, blocks: [full, { name: 'two' }], zone, codes: [] }, {}],
      [{ blocks: [{ name: 'only', notes: [a] }], seo: null, zone: zone.toReversed(), codes: [] }, {}],
      [{ blocks: [full] }, DRAFT],
      [{ zone: [], seo: { lines: [line('l')] } }, DRAFT],
      'publish',
      'unpublish',
      [{ blocks: [], zone }, DRAFT],
      [{ seo: full, blocks: [full], zone, codes: [] }, {}],
    ],
    page: [
      [{ blocks: [full, { name: 'two' }] }, {}],
      [{ blocks: [{ notes: [b], lines: [line('n', b)] }] }, {}],
      [{ title: 'kept' }, {}],
      [{ blocks: [] }, {}],
    ],
    story: [
      [{ blocks: [full] }, {}],
      [{ title: 'une', blocks: [full, { name: 'deux' }] }, french],
      [{ blocks: [{ name: 'trois' }] }, french],
      [{ blocks: [] }, DRAFT],
      [{ blocks: [full] }, {}],
    ],
  }
  for (const [type, all] of Object.entries(steps)) {
    const documents = new Map<string, unknown>()
    for (const way of WAYS)
      documents.set(way, (await create(type, { title: 'first', blocks: [full] })).documentId)
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
  }
})

test.serial('an update that replaces components takes one round trip', async t => {
  const { create, update } = await openWriting(t, model)
  const note = (await create('note', { name: 'a' })).documentId
  const block = { name: 'n', lines: [{ text: 'x', note }], notes: [note] }
  const whole = { seo: block, blocks: [block], zone: [], codes: [] }
  const post = (await create('post', { title: 'a', ...whole })).documentId
  const page = (await create('page', { title: 'a' })).documentId
  t.is(await roundTrips(() => update('post', post, whole)), 1)
  t.is(await roundTrips(() => update('post', post, { blocks: [block, block] }, DRAFT)), 1)
  t.is(await roundTrips(() => update('page', page, { blocks: [block] })), 1)
})

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
