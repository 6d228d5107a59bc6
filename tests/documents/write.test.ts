import test, { type ExecutionContext } from 'ava'
import type { DesiredDocument, DesiredValue, LinkTarget, Values } from '../../core/documents/desired-state.ts'
import type { WriteOptions } from '../../core/documents/rows/write-options.ts'
import { writeDocuments } from '../../core/documents/write-documents.ts'
import { RequestFault } from '../../core/faults/fault.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import type { Component, ContentType } from '../../core/model/model.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { holderOf, modelOf } from '../model/compiled.ts'

const model = await modelOf(`
components: { part.word: { attributes: { text: string, note: string } } }
contentTypes:
  page:
    draftAndPublish: true
    attributes:
      title: string
      words: { type: component, component: part.word, repeatable: true }
      best: { type: relation, relation: oneToOne, target: note, inversedBy: bestOf }
      notes: { type: relation, relation: manyToMany, target: note, inversedBy: pages }
  note:
    attributes:
      name: string
      bestOf: { type: relation, relation: oneToOne, target: page, mappedBy: best }
      pages: { type: relation, relation: manyToMany, target: page, mappedBy: notes }
      page: { type: relation, relation: manyToOne, target: page }
`)
const storage = compileStorage(model)
const page = holderOf(model, 'page') as ContentType
const note = holderOf(model, 'note') as ContentType
const word = holderOf(model, 'part.word') as Component

const text = (value: string): DesiredValue => ({ kind: 'scalar', value })
const links = (...ids: readonly (string | LinkTarget)[]): DesiredValue => ({
  kind: 'links',
  targets: ids.map(id => (typeof id === 'string' ? { documentId: id, locale: null, status: null } : id)),
})
const words = (...items: readonly { id?: number; text?: string; note?: string }[]): DesiredValue => ({
  kind: 'components',
  items: items.map(({ id, ...texts }) => ({
    component: word,
    id: id ?? null,
    values: new Map(Object.entries(texts).map(([name, value]) => [name, text(value)])),
  })),
})

type Given = Readonly<Record<string, DesiredValue>>

const document = (
  type: ContentType,
  documentId: string,
  values: Given,
  statuses: readonly ('draft' | 'published')[],
): DesiredDocument => ({
  type,
  documentId,
  versions: [{ locale: null, statuses, values: new Map(Object.entries(values)) satisfies Values }],
})
const both = (documentId: string, values: Given) => document(page, documentId, values, ['draft', 'published'])
const draft = (documentId: string, values: Given) => document(page, documentId, values, ['draft'])
const plain = (documentId: string, values: Given) => document(note, documentId, values, ['published'])

async function open(t: ExecutionContext) {
  const database = await openTestDatabase(t, { tables: storage.tables })
  await migrate(database, storage.tables)
  const write = (documents: readonly DesiredDocument[], more: Partial<WriteOptions> = {}) =>
    database.transaction(transaction =>
      writeDocuments(documents, {
        transaction,
        storage,
        schema: database.schema,
        defaultLocale: model.defaultLocale,
        now: '2030-01-02T03:04:05.678Z',
        componentMatch: 'by-id',
        touch: false,
        ...more,
      }),
    )
  const rows = async (statement: string) => (await database.run({ text: statement, values: [] })).rows
  return { write, rows }
}

test('a write whose assertion does not hold changes nothing, and its error says that the write is repeated', async t => {
  const { write, rows } = await open(t)
  const assertion = { form: null, values: [], print: () => 'EXISTS (SELECT FROM notes)' }
  const create = () => write([plain('n', {})], { assertion })
  await t.throwsAsync(create, { message: /"an assertion does not hold, so Plinth repeats this write/ })
  t.deepEqual(await rows('SELECT document_id FROM notes'), [])
  await write([plain('m', {})])
  await create()
  t.deepEqual(await rows('SELECT document_id FROM notes ORDER BY id'), [['m'], ['n']])
})

test('writing a draft leaves the values, links and components of its published version unchanged', async t => {
  const { write, rows } = await open(t)
  await write([
    plain('n', {}),
    plain('m', {}),
    both('a', { title: text('one'), words: words({ text: 'x' }), notes: links('n') }),
  ])
  await write([draft('a', { title: text('two'), words: words({ id: 1, text: 'y' }), notes: links('m') })])
  t.deepEqual(await rows('SELECT status, title FROM pages ORDER BY id'), [
    ['draft', 'two'],
    ['published', 'one'],
  ])
  t.deepEqual(await rows('SELECT id, status, text FROM components_part_word ORDER BY status'), [
    [1, 'draft', 'y'],
    [1, 'published', 'x'],
  ])
  const linked =
    'SELECT p.status, n.document_id FROM pages_notes_links l JOIN pages p ON p.id = l.owner_id JOIN notes n ON n.id = l.target_key ORDER BY 1'
  t.deepEqual(await rows(linked), [
    ['draft', 'm'],
    ['published', 'n'],
  ])
})

test('a component with an id is updated and moves with the list; others are created; ids of other documents are refused', async t => {
  const { write, rows } = await open(t)
  await write([
    both('a', { words: words({ text: 'x', note: 'kept' }, { text: 'y' }) }),
    both('b', { words: words({ text: 'z' }) }),
  ])
  await write([both('a', { words: words({ text: 'new' }, { id: 1, text: 'X' }) })])
  const listed =
    "SELECT id, text, note FROM components_part_word WHERE status = 'published' AND owner_key = 1 ORDER BY position"
  t.deepEqual(await rows(listed), [
    [4, 'new', null],
    [1, 'X', 'kept'],
  ])
  const error = await t.throwsAsync(write([both('a', { words: words({ id: 3, text: 'stolen' }) })]), {
    instanceOf: RequestFault,
  })
  t.is(error?.message, 'Some of the provided components in words are not related to the entity')
})

test('a two-way one-to-one takes its target from the former owner, only in the written status', async t => {
  const { write, rows } = await open(t)
  const owners = async () =>
    rows('SELECT p.document_id, p.status FROM pages p JOIN notes n ON n.id = p.best_key ORDER BY 1, 2')
  await write([plain('n', {}), both('a', { best: links('n') }), both('b', {})])
  await write([draft('b', { best: links('n') })])
  t.deepEqual(await owners(), [
    ['a', 'published'],
    ['b', 'draft'],
  ])
  await write([both('b', { best: links('n') })])
  t.deepEqual(await owners(), [
    ['b', 'draft'],
    ['b', 'published'],
  ])
})

test('two owners may swap the targets of a one-to-one in one write, also from the inverse side', async t => {
  const { write, rows } = await open(t)
  await write([
    plain('n', {}),
    plain('m', {}),
    both('a', { best: links('n') }),
    both('b', { best: links('m') }),
  ])
  await write([both('a', { best: links('m') }), both('b', { best: links('n') })])
  const owners =
    'SELECT p.document_id, n.document_id FROM pages p JOIN notes n ON n.id = p.best_key ORDER BY 1, p.status'
  t.deepEqual(await rows(owners), [
    ['a', 'm'],
    ['a', 'm'],
    ['b', 'n'],
    ['b', 'n'],
  ])
  await write([plain('m', { bestOf: links('b') })])
  t.deepEqual(await rows(owners), [
    ['b', 'm'],
    ['b', 'm'],
  ])
})

test('writing the inverse side replaces its links in drafts and published versions, and keeps the owners’ timestamps', async t => {
  const { write, rows } = await open(t)
  await write([
    plain('n', {}),
    plain('m', {}),
    both('a', { notes: links('m', 'n') }),
    both('b', {}),
    draft('c', {}),
  ])
  await write([plain('n', { pages: links('c', 'b') })], { now: '2031-01-01T00:00:00.000Z' })
  const linked =
    'SELECT p.document_id, p.status FROM pages_notes_links l JOIN pages p ON p.id = l.owner_id JOIN notes n ON n.id = l.target_key WHERE n.document_id = '
  t.deepEqual(await rows(`${linked}'n' ORDER BY l.inverse_position, p.id`), [
    ['c', 'draft'],
    ['b', 'draft'],
    ['b', 'published'],
  ])
  t.deepEqual(await rows(`${linked}'m' ORDER BY p.id`), [
    ['a', 'draft'],
    ['a', 'published'],
  ])
  t.deepEqual(await rows('SELECT DISTINCT extract(year from updated_at)::integer FROM pages'), [[2030]])
})

test('a document without drafts can link the draft and the published version separately', async t => {
  const { write, rows } = await open(t)
  const to = (documentId: string, status: 'draft' | 'published'): LinkTarget => ({
    documentId,
    status,
    locale: null,
  })
  await write([
    both('a', {}),
    both('b', {}),
    plain('n', { page: links(to('a', 'published'), to('b', 'draft')) }),
  ])
  const slots =
    'SELECT p.document_id, d.document_id FROM notes n LEFT JOIN pages p ON p.id = n.page_key LEFT JOIN pages d ON d.id = n.page_draft_key'
  t.deepEqual(await rows(slots), [['a', 'b']])
  await write([plain('n', { page: links('b') })])
  t.deepEqual(await rows(slots), [['b', 'b']])
  await write([plain('n', { page: links() })])
  t.deepEqual(await rows(slots), [[null, null]])
})

test('unchanged values are not written; timestamps change only on demand', async t => {
  const { write, rows } = await open(t)
  const values = { title: text('one'), words: words({ text: 'x' }), notes: links('n') }
  await write([plain('n', {}), both('a', values)])
  const versions = 'SELECT sum(version)::integer FROM plinth_versions'
  const before = await rows(versions)
  await write([both('a', values)], { componentMatch: 'by-position', now: '2031-01-01T00:00:00.000Z' })
  t.deepEqual(await rows(versions), before)
  await write([both('a', values)], {
    componentMatch: 'by-position',
    now: '2031-01-01T00:00:00.000Z',
    touch: true,
  })
  t.deepEqual(
    await rows(
      'SELECT status, extract(year from updated_at)::integer, extract(year from published_at)::integer FROM pages ORDER BY id',
    ),
    [
      ['draft', 2031, null],
      ['published', 2031, 2031],
    ],
  )
})

test('a link to a missing document is omitted', async t => {
  const { write, rows } = await open(t)
  await write([both('a', { notes: links('gone'), best: links('gone') })])
  t.deepEqual(await rows('SELECT count(*) FROM pages_notes_links'), [[0]])
  t.deepEqual(await rows('SELECT DISTINCT best_key FROM pages'), [[null]])
})
