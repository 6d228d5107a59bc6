import test, { type ExecutionContext } from 'ava'
import type {
  DesiredDocument,
  DesiredValue,
  DesiredVersion,
  Stored,
} from '../../core/documents/desired-state.ts'
import { NO_CURRENT_ROWS } from '../../core/documents/rows/write-load.ts'
import { writeDocuments } from '../../core/documents/write-documents.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import type { Component, ContentType } from '../../core/model/model.ts'
import type { Statement } from '../../core/sql/statement.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { holderOf, modelOf } from '../model/compiled.ts'

const SCALARS = `
      string: string
      text: text
      richtext: richtext
      blocks: blocks
      email: email
      password: password
      uid: uid
      date: date
      time: time
      datetime: datetime
      timestamp: timestamp
      integer: integer
      biginteger: biginteger
      float: float
      decimal: decimal
      boolean: boolean
      json: json
      chosen: { type: enumeration, enum: [a, b] }`

const model = await modelOf(`
i18n: { defaultLocale: en, locales: [en, fr] }
components:
  part.inner: { attributes: { text: string, float: float } }
  part.outer:
    attributes:
      text: string
      inner: { type: component, component: part.inner, repeatable: true }
      author: { type: relation, relation: manyToOne, target: author }
      authors: { type: relation, relation: oneToMany, target: author }
contentTypes:
  author: { attributes: { name: string } }
  plain:
    attributes:${SCALARS}
      only: { type: relation, relation: oneToOne, target: author }
      authors: { type: relation, relation: manyToMany, target: author }
  page:
    draftAndPublish: true
    localized: true
    attributes:${SCALARS}
      shared: { type: string, localized: false }
      author: { type: relation, relation: manyToOne, target: author }
      authors: { type: relation, relation: manyToMany, target: author }
      one: { type: component, component: part.outer }
      many: { type: component, component: part.outer, repeatable: true }
      zone: { type: dynamiczone, components: [part.inner, part.outer] }
`)
const storage = compileStorage(model)
const author = holderOf(model, 'author') as ContentType
const plain = holderOf(model, 'plain') as ContentType
const page = holderOf(model, 'page') as ContentType
const inner = holderOf(model, 'part.inner') as Component
const outer = holderOf(model, 'part.outer') as Component

type Values = DesiredVersion['values']

const scalar = (value: Stored): DesiredValue => ({ kind: 'scalar', value })
const links = (...keys: readonly number[]): DesiredValue => ({
  kind: 'links',
  targets: keys.map(key => ({ documentId: '', key, locale: null, status: null })),
})
const valuesOf = (values: Readonly<Record<string, DesiredValue>>): Values => new Map(Object.entries(values))
const innerOf = (text: Stored, float: Stored) => ({
  component: inner,
  id: null,
  values: valuesOf({ text: scalar(text), float: scalar(float) }),
})
const outerOf = (text: Stored, [first, second, third]: readonly [number, number, number], float: Stored) => ({
  component: outer,
  id: null,
  values: valuesOf({
    text: scalar(text),
    inner: { kind: 'components', items: [innerOf(`${text} within`, float)] },
    author: links(first),
    authors: links(second, third),
  }),
})

/** Values of every type; the two sets have no value in common. */
const FIRST = {
  string: scalar('one'),
  text: scalar('first text'),
  richtext: scalar('# one'),
  blocks: scalar('[{"type":"paragraph","children":[{"type":"text","text":"one"}]}]'),
  email: scalar('one@example.com'),
  password: scalar('$2a$04$one'),
  uid: scalar('uid-one'),
  date: scalar('2030-01-01'),
  time: scalar('01:00:00'),
  datetime: scalar('2030-01-01T01:00:00.000Z'),
  timestamp: scalar('2031-01-01T01:00:00.000Z'),
  integer: scalar(1),
  biginteger: scalar('9007199254740993'),
  float: scalar(1.5),
  decimal: scalar('1.10'),
  boolean: scalar(true),
  json: scalar('{"one":1}'),
  chosen: scalar('a'),
}
const SECOND = {
  string: scalar('two'),
  text: scalar('second text'),
  richtext: scalar('# two'),
  blocks: scalar('[{"type":"paragraph","children":[{"type":"text","text":"two"}]}]'),
  email: scalar('two@example.com'),
  password: scalar('$2a$04$two'),
  uid: scalar('uid-two'),
  date: scalar('2030-02-02'),
  time: scalar('02:00:00'),
  datetime: scalar('2030-02-02T02:00:00.000Z'),
  timestamp: scalar('2031-02-02T02:00:00.000Z'),
  integer: scalar(2),
  biginteger: scalar('-9007199254740994'),
  float: scalar(-2.5),
  decimal: scalar('2.20'),
  boolean: scalar(false),
  json: scalar('[2]'),
  chosen: scalar('b'),
}
const NULLS = Object.fromEntries(Object.keys(FIRST).map(name => [name, scalar(null)]))

/** Texts and numbers like parameter positions, literals of the statement, and numbers outside the range of keys. */
const LOOKALIKES = {
  ...FIRST,
  string: scalar('$1'),
  text: scalar('0'),
  richtext: scalar('draft'),
  email: scalar('published'),
  password: scalar('en'),
  uid: scalar('slot'),
  integer: scalar(1024),
  biginteger: scalar(String(-(2 ** 50))),
  float: scalar(-(2 ** 50) - 2),
  json: scalar('{"kind":"slot","index":3}'),
}

interface Sample {
  readonly values: Readonly<Record<string, DesiredValue>>
  readonly text: string
  readonly float: number | null
  readonly keys: readonly [number, number, number]
}

const SAMPLES: readonly Sample[] = [
  { values: FIRST, text: 'first', float: 0.5, keys: [1, 2, 3] },
  { values: SECOND, text: 'second', float: 7.25, keys: [3, 1, 2] },
  { values: NULLS, text: '', float: null, keys: [2, 3, 1] },
  { values: LOOKALIKES, text: 'slot', float: -(2 ** 50) - 1, keys: [1, 3, 2] },
]

const plainOf = ({ values, keys: [first, second, third] }: Sample): Values =>
  valuesOf({ ...values, only: links(first), authors: links(second, third) })

const pageOf = ({ values, text, float, keys }: Sample): Values =>
  valuesOf({
    ...values,
    shared: scalar(text),
    author: links(keys[0]),
    authors: links(keys[1], keys[2]),
    one: { kind: 'components', items: [outerOf(text, keys, float)] },
    zone: { kind: 'components', items: [innerOf(text, float)] },
  })

const repeatedOf = ({ text, float, keys }: Sample): Values =>
  valuesOf({
    many: { kind: 'components', items: [outerOf(text, keys, float), outerOf(null, keys, null)] },
    zone: { kind: 'components', items: [outerOf(text, keys, float), innerOf(text, float)] },
  })

const versions = (sample: Sample, index: number): readonly (readonly [ContentType, DesiredVersion])[] => [
  [plain, { locale: null, statuses: ['published'], values: plainOf(sample) }],
  [page, { locale: 'en', statuses: ['draft'], values: repeatedOf(sample) }],
  [page, { locale: 'fr', statuses: ['draft', 'published'], values: pageOf(sample) }],
  [
    page,
    {
      locale: 'en',
      statuses: ['published'],
      publishing: { keeps: false, at: `204${index}-01-01T00:00:00.000Z` },
      values: pageOf(sample),
    },
  ],
]

const DOCUMENTS = SAMPLES.flatMap((sample, index) =>
  versions(sample, index).map(
    ([type, version], place): DesiredDocument => ({
      type,
      documentId: index === 3 ? (['0', 'draft', '$1', 'now'][place] ?? '') : `document ${index} ${place}`,
      versions: [version],
    }),
  ),
)

const AUTHORS = ['a', 'b', 'c'].map(
  (documentId): DesiredDocument => ({
    type: author,
    documentId,
    versions: [{ locale: null, statuses: ['published'], values: new Map() }],
  }),
)

/** Writes all documents into an empty database. Returns the rows of all tables, and the text of each statement. */
async function write(t: ExecutionContext, { templates }: { readonly templates: boolean }) {
  const database = await openTestDatabase(t)
  await migrate(database, storage.tables)
  const texts: (readonly string[])[] = []
  const save = (documents: readonly DesiredDocument[], index: number) =>
    database.transaction(async transaction => {
      const sent: string[] = []
      const noted = (statement: Statement): Statement => {
        if (statement.keepsPlan) sent.push(statement.text)
        return statement
      }
      const options = {
        transaction: {
          run: (statement: Statement) => transaction.run(noted(statement)),
          send: (statement: Statement) => transaction.send(noted(statement)),
        },
        storage,
        schema: database.schema,
        defaultLocale: model.defaultLocale,
        now: `203${index % 10}-0${1 + Math.floor(index / 10)}-02T03:04:05.678Z`,
        componentMatch: 'by-id',
        touch: true,
      } as const
      await writeDocuments(documents, options, templates ? NO_CURRENT_ROWS : undefined)
      texts.push(sent)
    })
  await save(AUTHORS, 0)
  for (const [index, document] of DOCUMENTS.entries()) await save([document], index)
  const rows: Record<string, unknown> = {}
  // The versions of the response cache start at a random number.
  for (const { name } of storage.tables.filter(table => table.name !== 'plinth_versions')) {
    const statement = { text: `SELECT to_jsonb(r) FROM "${name}" r ORDER BY to_jsonb(r)::text`, values: [] }
    rows[name] = (await database.run(statement)).rows
  }
  return { rows, texts: texts.slice(1) }
}

test('documents of one shape get the same rows from a shared statement template as from individual planning', async t => {
  const once = await write(t, { templates: true })
  const each = await write(t, { templates: false })
  t.deepEqual(once.rows, each.rows)
  for (const place of [0, 1, 2, 3]) {
    const same = once.texts.filter((_, index) => index % 4 === place)
    t.deepEqual(
      same.map(({ length }) => length),
      [1, 1, 1, 1],
    )
    t.is(new Set(same.flat()).size, 1)
  }
})
