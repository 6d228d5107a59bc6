import test, { type ExecutionContext } from 'ava'
import { compileModel } from '../../core/model/compile-model.ts'
import { readProject } from '../../core/project/load-project.ts'
import { correspond } from '../../tools/strapi/field-mapping.ts'
import { nameAll } from '../../tools/strapi/names.ts'
import { archiveTables } from '../../tools/strapi/read/archive-tables.ts'
import { readStrapi } from '../../tools/strapi/read-strapi.ts'
import type { RowLocation } from '../../tools/strapi/row-index.ts'
import { namesOf } from '../../tools/strapi/strapi-names.ts'
import { streamDocuments } from '../../tools/strapi/write-stream.ts'
import { runImport, strapiProject, type } from './import.ts'

/** More than a function takes arguments. */
const MANY = 400_000

/** Imports the schema of a Strapi project, and returns which type of it each type of the imported project is. */
async function correspondenceOf(t: ExecutionContext, folder: ReturnType<typeof strapiProject>) {
  t.teardown(folder.remove)
  await runImport({ dir: folder.path, out: folder.path })
  const strapi = await readStrapi(folder.path)
  const { project } = await readProject(folder.path, {})
  const model = project && compileModel(project)
  if (!strapi.ok || !model?.ok) throw new Error('the project was not imported')
  return correspond(strapi.value, nameAll(strapi.value), model.value)
}

test('a content-type may have any number of rows', async t => {
  const folder = strapiProject(type('note', { title: { type: 'string' } }))
  const correspondence = await correspondenceOf(t, folder)
  const place: RowLocation = { documentId: 'gone', locale: null, status: 'published', linked: undefined }
  const rows = new Map(Array.from({ length: MANY }, (_, index) => [index + 1, place]))
  const documents = streamDocuments({
    source: NOTHING_THERE,
    names: namesOf(5),
    correspondence,
    index: { types: new Map([['api::note.note', { rows, documents: new Map() }]]) },
    lose: () => {},
  })
  t.deepEqual(await documents.next(), { done: true, value: undefined })
})

test('of attributes that locales share, the draft that equals the published version is imported', async t => {
  const localized = { pluginOptions: { i18n: { localized: true } } }
  const attributes = { title: { type: 'string', ...localized }, rank: { type: 'integer' } }
  const folder = strapiProject(type('note', attributes, { ...localized, options: { draftAndPublish: true } }))
  const correspondence = await correspondenceOf(t, folder)
  const note = (id: number, locale: string, more: object = {}) => ({
    type: 'api::note.note',
    id,
    data: { documentId: 'one', locale, ...more },
  })
  const published = { publishedAt: '2026-01-01T12:00:00.000Z' }
  const entities = [
    note(1, 'fr', { rank: 1 }),
    note(2, 'en', { rank: 2 }),
    note(3, 'it'),
    note(4, 'fr', { rank: 2, ...published }),
    note(5, 'it', published),
  ]
  const schemas = [
    { uid: 'api::note.note', info: { singularName: 'note' }, collectionName: 'notes', attributes },
  ]
  const place = (id: number, locale: string): [number, RowLocation] => [
    id,
    { documentId: 'one', locale, status: id > 3 ? 'published' : 'draft', linked: undefined },
  ]
  const rows = new Map([place(1, 'fr'), place(2, 'en'), place(3, 'it'), place(4, 'fr'), place(5, 'it')])
  const documents = streamDocuments({
    source: archiveTables({ schemas, entities, links: [], configuration: [], skipped: [] }, 5),
    names: namesOf(5),
    correspondence,
    index: {
      types: new Map([['api::note.note', { rows, documents: new Map([['one', [...rows.keys()]]]) }]]),
    },
    lose: () => t.fail(),
  })
  const { value } = await documents.next()
  t.deepEqual(value?.shared, { draft: { rank: 2 }, published: { rank: 2 } })
})

/** No document is read. */
const NOTHING_THERE = {
  tables: new Map(),
  read: () => Promise.reject(new Error('nothing is to be read')),
}

test('links of an archive are found in columns and tables, and translations of Strapi 4 in their tables', async t => {
  const schema = (name: string, attributes: object) => ({
    uid: `api::${name}.${name}`,
    info: { singularName: name },
    collectionName: `${name}s`,
    attributes,
  })
  const end = (name: string, ref: number, more: object = {}) => ({
    type: `api::${name}.${name}`,
    ref,
    ...more,
  })
  const author = { type: 'relation', relation: 'oneToOne', useJoinTable: false }
  const lines = {
    schemas: [
      schema('author', {}),
      schema('note', { author, tags: { type: 'relation', relation: 'oneToMany' } }),
    ],
    entities: [1, 2, 3].flatMap(id =>
      ['author', 'note'].map(type => ({ type: `api::${type}.${type}`, id, data: {} })),
    ),
    links: [
      { left: end('note', 2, { field: 'author' }), right: end('author', 3) },
      { left: end('note', 1, { field: 'tags', pos: 2 }), right: end('author', 1) },
      { left: end('note', 1, { field: 'tags', pos: 1 }), right: end('author', 2) },
      { left: end('note', 1, { field: 'localizations' }), right: end('note', 2) },
    ],
    configuration: [],
    skipped: ['../x'],
  }
  const source = archiveTables(lines, 4)
  const read = async (table: string, columns: readonly string[], more: object = {}) =>
    (await source.read({ table, columns, ...more })).map(row => [...row.values()])
  const among = { column: 'id', values: [3, 2, 2] }
  t.deepEqual(await read('notes', ['id', 'author_id'], { among, orderBy: ['id'] }), [
    ['2', '3'],
    ['3', null],
  ])
  const tags = { among: { column: 'note_id', values: [1] }, orderBy: ['own_ord'] }
  t.deepEqual(await read('notes_tags_links', ['author_id'], tags), [['2'], ['1']])
  t.deepEqual(await read('notes_localizations_links', ['entry_id', 'inv_entry_id']), [['1', '2']])
})
