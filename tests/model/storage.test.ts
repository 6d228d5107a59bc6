import test from 'ava'
import { compileStorage } from '../../core/model/compile-storage.ts'
import { attributeOf, compiled, holderOf, modelOf, storageOf, tableOf } from './compiled.ts'
import { conformanceProject } from './declare.ts'
import { golden } from './golden.ts'
import { printColumn, printIndex, printTables } from './print-tables.ts'

const ALL_TYPES = `
      string: { type: string, required: true, unique: true }
      text: text
      richtext: richtext
      blocks: blocks
      enumeration: { type: enumeration, enum: [a, b], required: true, default: a }
      email: email
      password: password
      uid: { type: uid, targetField: string }
      date: date
      time: time
      datetime: datetime
      timestamp: timestamp
      integer: { type: integer, backfill: 0 }
      biginteger: biginteger
      float: float
      decimal: decimal
      boolean: boolean
      json: json
      array: array`

for (const [name, versions] of [
  ['plain', ''],
  ['drafts', 'draftAndPublish: true'],
  ['locales', 'localized: true'],
  ['both', 'draftAndPublish: true\n    localized: true'],
] as const) {
  test(`the table of a type that is ${name}`, async t => {
    const storage = await storageOf(
      `contentTypes:\n  thing:\n    ${versions}\n    indexes: [[date, integer]]\n    attributes:${ALL_TYPES}`,
    )
    golden(t, `type-${name}`, printTables([tableOf(storage, 'things')]))
  })
}

test('the table of a component', async t => {
  const storage = await storageOf(`components:\n  shared.thing:\n    attributes:${ALL_TYPES}`)
  golden(t, 'component', printTables([tableOf(storage, 'components_shared_thing')]))
})

test('the tables of the conformance project, those of Plinth itself included', async t => {
  golden(t, 'conformance', printTables(compileStorage(compiled(await conformanceProject())).tables))
})

test('a renamed project keeps its rows: tables, columns, links, values and owners record their former names', async t => {
  const storage = await storageOf(`
i18n: { locales: [en, { code: fr, renamedFrom: fr-FR }] }
components: { shared.seo: { renamedFrom: seo.meta, attributes: { title: { type: string, renamedFrom: name } } } }
contentTypes:
  article:
    renamedFrom: post
    draftAndPublish: true
    localized: true
    attributes:
      kind: { type: enumeration, enum: [news, { value: opinion, renamedFrom: views }], renamedFrom: sort }
      writer: { type: relation, relation: manyToOne, target: author, renamedFrom: author }
      tags: { type: relation, relation: manyToMany, target: article, renamedFrom: labels }
      seo: { type: component, component: shared.seo, renamedFrom: meta }
  author:
    attributes:
      best: { type: relation, relation: oneToOne, target: article, renamedFrom: top }`)
  const own = storage.tables.filter(({ name }) => !name.startsWith('plinth_'))
  golden(t, 'renames', printTables(own))
  const content = tableOf(storage, 'plinth_content')
  t.true(
    content.columns
      .map(printColumn)
      .includes('content_type varchar(255) api::post.post → api::article.article'),
  )
})

test('names over the limit of PostgreSQL are shortened, and stay distinct', async t => {
  const long = 'x'.repeat(70)
  // 50 characters here, 74 as the name of a column.
  const wide = 'aB'.repeat(25)
  const storage = await storageOf(`contentTypes:
  ${long}-a:
    attributes:
      ${wide}A: string
      ${wide}B: { type: string, unique: true }
      ${wide}Many: { type: relation, relation: manyToMany, target: ${long}-a }
      ${wide}Others: { type: relation, relation: manyToMany, target: ${long}-a }`)
  const names = storage.tables.flatMap(table => [
    table.name,
    ...table.indexes.map(index => index.name),
    ...table.checks.map(check => check.name),
    ...table.foreignKeys.map(key => key.name),
  ])
  t.is(new Set(names).size, names.length)
  const columns = storage.tables.flatMap(table => table.columns.map(column => column.name))
  t.true([...names, ...columns].every(name => Buffer.byteLength(name) <= 63))
})

test('constraints of different tables never share a name', async t => {
  const storage = await storageOf(
    `contentTypes:
  one: { tableName: a_b, attributes: { c: { type: string, unique: true } } }
  two: { tableName: a, attributes: { b_c: { type: string, unique: true } } }
  three: { tableName: a__b, attributes: { c: { type: string, unique: true } } }
  four: { tableName: a___b, attributes: { c: { type: string, unique: true }, _c: string } }`.replace(
      ', _c: string',
      '',
    ),
  )
  const names = storage.tables.flatMap(table => table.indexes.map(index => index.name))
  t.is(new Set(names).size, names.length)
})

test('an attribute with the name of a built-in column gets another column, with and without drafts', async t => {
  const yaml = async (more: string) =>
    await modelOf(
      `contentTypes: { order: { ${more} attributes: { status: string, document: { type: media }, locales: string } } }`,
    )
  for (const more of ['', 'draftAndPublish: true, localized: true,']) {
    const model = await yaml(more)
    const storage = compileStorage(model)
    const order = holderOf(model, 'order')
    t.is(storage.column(order, 'status'), 'status_')
    t.is(storage.column(order, 'locales'), 'locales')
    const link = storage.link(order, 'document')
    t.is(link.kind === 'column' && link.key, 'document_key_')
  }
})

test('the same project gives the same tables', async t => {
  const yaml =
    'contentTypes: { page: { attributes: { title: { type: string, unique: true }, next: { type: relation, relation: manyToMany, target: page } } } }'
  t.deepEqual(printTables((await storageOf(yaml)).tables), printTables((await storageOf(yaml)).tables))
})

test('compiled schemas are frozen, and a missing name throws', async t => {
  const model = await modelOf('contentTypes: { page: { attributes: { title: string } } }')
  const empty = await modelOf('')
  const storage = compileStorage(model)
  t.true(Object.isFrozen(storage) && storage.tables.every(table => Object.isFrozen(table.columns)))
  t.throws(() => storage.column(holderOf(model, 'page'), 'nothing'), {
    message: 'api::page.page has no column for nothing',
  })
  t.throws(() => storage.table(empty.builtIn.user), {
    message: 'plugin::users-permissions.user is not of this model',
  })
  t.is(attributeOf(model, 'page', 'title').name, 'title')
})

test('an index that exists already is not created twice', async t => {
  const storage = await storageOf(`contentTypes:
  page: { attributes: { other: { type: relation, relation: manyToOne, target: page }, date: date }, indexes: [[date], [date]] }`)
  t.deepEqual(tableOf(storage, 'pages').indexes.map(printIndex), [
    'unique (document_id)',
    'index (other_key) where other_key is not null',
    'index (date)',
  ])
})

test('unique texts are indexed up to the length that PostgreSQL can index', async t => {
  const storage = await storageOf(`contentTypes:
  page:
    attributes:
      long: { type: text, unique: true }
      short: { type: text, unique: true, maxLength: 600 }`)
  t.deepEqual(tableOf(storage, 'pages').indexes.map(printIndex), ['unique (document_id)', 'unique (short)'])
})

test('renaming without a change of tables and columns changes nothing in the database', async t => {
  const storage = await storageOf(`contentTypes:
  article:
    renamedFrom: post
    tableName: posts
    attributes:
      foo_bar: { type: string, renamedFrom: fooBar }
      an_other: { type: relation, relation: oneToOne, target: article, renamedFrom: anOther }
      all_others: { type: relation, relation: oneToMany, target: article, renamedFrom: allOthers }`)
  t.notRegex(printTables(storage.tables), / was /)
})
