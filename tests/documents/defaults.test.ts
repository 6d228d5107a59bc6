import test from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { schemaCase } from '../database/schema-case.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

const NUL = 'must not hold the character NUL or half of a surrogate pair'

/** Declarations that no document could take a value from, and what is wrong with them. */
const INVALID: readonly (readonly [attribute: Readonly<Record<string, unknown>>, fault: string])[] = [
  [{ type: 'string', default: 'd'.repeat(256) }, 'the `default` must be at most 255 characters'],
  [{ type: 'string', default: 'a\0b' }, `the \`default\` ${NUL}`],
  [{ type: 'text', backfill: '\ud800' }, `the \`backfill\` ${NUL}`],
  [{ type: 'email', default: 'nowhere' }, 'the `default` must be a valid email'],
  [{ type: 'email', backfill: 'nowhere' }, 'the `backfill` must be a valid email'],
  [{ type: 'uid', backfill: 'u'.repeat(256) }, 'the `backfill` must be at most 255 characters'],
  [{ type: 'decimal', default: 100_000_000 }, 'the `default` must be between -99999999.99 and 99999999.99'],
  [
    { type: 'biginteger', default: '9223372036854775808' },
    'the `default` must be between -9223372036854775808 and 9223372036854775807',
  ],
  [{ type: 'date', default: '0000-01-01' }, 'the `default`: Invalid date'],
  [{ type: 'date', default: '2027-02-30' }, 'the `default`: Invalid date'],
  [
    { type: 'datetime', default: '2027-02-30T10:00:00Z' },
    'the `default`: Invalid format, expected a timestamp or an ISO date',
  ],
  [{ type: 'integer', min: 18, default: 5 }, 'the `default` must be greater than or equal to 18'],
  [{ type: 'biginteger', max: '5', default: '6' }, 'the `default` must be less than or equal to 5'],
  [{ type: 'string', minLength: 3, default: 'ab' }, 'the `default` must be at least 3 characters'],
  [
    { type: 'string', regex: '^[a-z]+$', backfill: 'ABC' },
    'the `backfill` must match the following: "/^[a-z]+$/"',
  ],
  [{ type: 'json', default: { a: 'b\0' } }, `the \`default\` ${NUL}`],
  [{ type: 'blocks', default: [{ type: 'none' }] }, 'the `default`: Block node is of invalid type'],
  [{ type: 'enumeration', enum: ['a', 'b\0'] }, `the value ${NUL}`],
]

test('a default or backfill that no document may have is refused at load, at its place', async t => {
  const project = temporaryFolder()
  t.teardown(project.remove)
  for (const [attribute, fault] of INVALID) {
    const holder = { attributes: { first: 'string', value: attribute } }
    const declared = {
      name: 'Defaults',
      contentTypes: { note: holder },
      components: { 'a.b': holder },
      user: holder,
    }
    project.write('project.yaml', JSON.stringify(declared))
    const compiled = await compileApp(project.path, { DATABASE_URL: 'embedded' })
    const found = compiled.ok ? [] : compiled.reasons
    t.deepEqual(
      found.map(({ message }) => message),
      [fault, fault, fault],
      JSON.stringify(attribute),
    )
    t.deepEqual(
      new Set(
        found.map(({ path }) =>
          path
            .slice(0, -1)
            .join('.')
            .replace(/\.enum$/, ''),
        ),
      ).size,
      3,
    )
  }
})

test('defaults of all types reach new documents', async t => {
  const attributes = {
    text: { type: 'string', default: 'd'.repeat(255) },
    email: { type: 'email', default: 'a@example.org' },
    decimal: { type: 'decimal', default: 99_999_999.99 },
    big: { type: 'biginteger', default: '-9223372036854775808' },
    day: { type: 'date', default: '2026-02-28' },
    json: { type: 'json', default: '{"a": [1]}' },
    word: { type: 'json', default: '"word"' },
    plain: { type: 'json', default: 'plain text' },
    list: { type: 'array', default: [1] },
    kind: { type: 'enumeration', enum: ['a', 'b'], default: 'b' },
  }
  const roles = { public: { permissions: { note: ['create'] } } }
  const app = await openTestApp(t, {
    project: { name: 'Defaults', contentTypes: { note: { attributes } }, roles },
  })
  const { status, body } = await app.request('POST', '/api/notes', { body: { data: {} } })
  t.is(status, 201)
  t.like(body, {
    data: {
      text: 'd'.repeat(255),
      email: 'a@example.org',
      decimal: 99_999_999.99,
      big: '-9223372036854775808',
      day: '2026-02-28',
      json: { a: [1] },
      word: 'word',
      plain: 'plain text',
      list: [1],
      kind: 'b',
    },
  })
})

test('a backfill of type json is JSON text, as in a body', async t => {
  const one = await schemaCase(t)
  await one.started('contentTypes: { note: { attributes: { name: string } } }')
  await one.sql(`INSERT INTO notes (document_id, created_at, updated_at) VALUES ('a', now(), now())`)
  const data = `data: { type: json, backfill: '{"a": [1]}' }, more: { type: json, backfill: { b: 2 } }, last: { type: json, backfill: plain }`
  await one.started(`contentTypes: { note: { attributes: { name: string, ${data} } } }`)
  t.deepEqual(await one.sql(`SELECT data ->> 'a', more ->> 'b', last::text FROM notes`), [
    ['[1]', '2', '"plain"'],
  ])
})

/** What a permission sets, what is wrong with it, and the place. */
const SETS: readonly (readonly [set: string, message: string, place: string])[] = [
  [
    '{ pages: abc }',
    'pages must be a `number` type, but the final value was: `NaN` (cast from the value `"abc"`).',
    'pages',
  ],
  ['{ kind: poem }', '`poem` is not a value of `kind`: did you mean `poems`?', 'kind'],
  ['{ printed: $now }', '`printed`: Invalid format, expected yyyy-MM-dd', 'printed'],
  ['{ sold: maybe }', 'sold must be a `boolean` type, but the final value was: `"maybe"`.', 'sold'],
  ['{ box: { labl: x } }', 'unknown attribute `labl` of `a.box`: did you mean `label`?', 'box.labl'],
]

const SET_TYPES = `
name: Sets
components: { a.box: { attributes: { label: string } } }
contentTypes:
  book:
    attributes:
      title: string
      pages: integer
      kind: { type: enumeration, enum: [novel, poems] }
      printed: date
      sold: boolean
      box: { type: component, component: a.box }
      owner: { type: relation, relation: manyToOne, target: user }
`

const refusedSets = async (folder: string) => {
  const compiled = await compileApp(folder, { DATABASE_URL: 'embedded' })
  return compiled.ok ? [] : compiled.reasons.map(({ message, path }) => [message, path.join('.')])
}

test('a value of `set` that every request would be refused for is refused at load, at its place', async t => {
  const project = temporaryFolder()
  t.teardown(project.remove)
  for (const [set, message, place] of SETS) {
    project.write(
      'project.yaml',
      `${SET_TYPES}
roles: { editor: { permissions: { book: { create: { set: ${set} } } } } }
apiTokens:
  feed: { type: custom, secret: feed-feed-feed-feed-feed, permissions: { book: { update: { set: ${set} } } } }
`,
    )
    t.deepEqual(
      await refusedSets(project.path),
      [
        [message, `roles.editor.permissions.book.create.set.${place}`],
        [message, `apiTokens.feed.permissions.book.update.set.${place}`],
      ],
      set,
    )
  }
})

test('`set` may have every value that a body may have, and values of the user', async t => {
  const project = temporaryFolder()
  t.teardown(project.remove)
  const set =
    '{ title: $user.username, pages: "7", kind: poems, printed: 2024-02-29, sold: false, box: { label: x }, owner: $user.id }'
  project.write(
    'project.yaml',
    `${SET_TYPES}roles: { editor: { permissions: { book: { create: { set: ${set} }, update: { set: { owner: null } } } } } }\n`,
  )
  t.deepEqual(await refusedSets(project.path), [])
})
