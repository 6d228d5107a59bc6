import test from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { FULL, openWorld, type Reported, type World } from './world.ts'

// Safety rule S12: whatever text comes, by request or in the project file, is never read as SQL.
const HOSTILE = [
  ...[
    "'",
    "''",
    '"',
    '""',
    '\\',
    "\\'",
    '`',
    ';',
    '--',
    '/*',
    '*/',
    '$1',
    '$$',
    '$a$',
    '%',
    '_',
    '?',
    ':a',
    '@a',
  ],
  ...[
    "'; DROP TABLE books; --",
    '" OR 1=1 --',
    "' OR ''='",
    ') OR (1=1',
    "' UNION SELECT 1 --",
    "E'\\x41'",
    "\\'; --",
  ],
  ...[
    "a'::int",
    '(SELECT 1)',
    'pg_sleep(9)',
    "'||pg_sleep(9)||'",
    '{"a":"\'"}',
    "$.a ? (@ == 'b')",
    '{}',
    '[]',
    'null',
  ],
  ...[
    'a\nb',
    'a\tb',
    '\u2019',
    '\uff07',
    '\u02bc',
    '🙂',
    '\u202e',
    'ﬁ',
    '€uro',
    '%27',
    '%2527',
    '&',
    '=',
    '#',
    '+',
    ' ',
  ],
] as const

const GUARDED = 'guarded-injection-token-00000000000000000'
const quoted = (text: string): string => JSON.stringify(text)

/** Enumeration values and defaults that would end a text in SQL. */
const WORDS = [
  "it's",
  'say "no"',
  'back\\slash',
  "'; DROP TABLE books; --",
  '$1',
  '$$',
  "E'a'",
  '%s',
  'plain',
]

const PROJECT = `
name: Injection
server: { host: 127.0.0.1, port: 1 }
database: { url: "\${DATABASE_URL}" }
i18n: { locales: [en, fr], defaultLocale: en }
components:
  parts.note: { displayName: "it's; --", attributes: { text: { type: string, default: ${quoted('it\'s \\ "$1"')} } } }
contentTypes:
  book:
    draftAndPublish: true
    localized: true
    displayName: "Book'; DROP TABLE books; --"
    attributes:
      title: { type: string, unique: true }
      pages: integer
      price: decimal
      sold: biginteger
      weight: float
      day: date
      opens: time
      at: datetime
      open: boolean
      mail: email
      slug: { type: uid, targetField: title }
      meta: json
      tags: array
      word: { type: enumeration, enum: [${WORDS.map(quoted).join(', ')}], default: ${quoted(WORDS[3] ?? '')} }
      text: { type: text, default: ${quoted('it\'s \\ "$1"; --')} }
      more: { type: json, default: { "it's": ${quoted("\\'; --")} } }
      note: { type: component, component: parts.note }
      parts: { type: dynamiczone, components: [parts.note] }
      next: { type: relation, relation: manyToOne, target: book }
apiTokens:
  full: { type: full-access, secret: ${FULL} }
  guarded:
    type: custom
    secret: ${GUARDED}
    permissions:
      book: { find: { where: { title: { $in: [${HOSTILE.slice(0, 20).map(quoted).join(', ')}] } } }, create: { set: { text: ${quoted("'; DROP TABLE books; --")} } } }
`

let world: World
test.before(async () => {
  world = await openWorld(PROJECT)
  for (const title of HOSTILE)
    await world.make('POST', '/api/books', {
      title,
      meta: { [title]: title },
      tags: [title],
      note: { text: title },
    })
})
test.after.always(() => world?.close())

const titlesIn = ({ text }: Reported): readonly string[] =>
  (JSON.parse(text).data as readonly { title: string }[]).map(({ title }) => title).toSorted()

const find = (query: string, as = FULL): Promise<Reported> =>
  world.ask('GET', `/api/books?fields=title&pagination[pageSize]=100&${query}`, { as })

const count = async (): Promise<number> => JSON.parse((await find('')).text).meta.pagination.total

test.serial('hostile texts are found as literals, under every operator that compares them', async t => {
  const all = HOSTILE as readonly string[]
  for (const title of all) {
    const value = encodeURIComponent(title)
    const wanted: Readonly<Record<string, (text: string) => boolean>> = {
      'filters[title]': text => text === title,
      'filters[title][$eq]': text => text === title,
      'filters[title][$ne]': text => text !== title,
      'filters[title][$in]': text => text === title,
      'filters[title][$notIn]': text => text !== title,
      'filters[title][$contains]': text => text.includes(title),
      'filters[title][$notContains]': text => !text.includes(title),
      'filters[title][$startsWith]': text => text.startsWith(title),
      'filters[title][$endsWith]': text => text.endsWith(title),
      'filters[note][text]': text => text === title,
      'filters[note][text][$contains]': text => text.includes(title),
      'filters[tags]': () => false,
    }
    for (const [key, test] of Object.entries(wanted)) {
      const asked =
        key === 'filters[tags]' ? `${key}=${encodeURIComponent(JSON.stringify([title]))}` : `${key}=${value}`
      const holds = key === 'filters[tags]' ? (text: string) => text === title : test
      const answer = await find(asked)
      t.is(answer.status, 200, asked)
      t.deepEqual(titlesIn(answer), all.filter(holds).toSorted(), asked)
    }
    const json = await find(`filters[meta]=${encodeURIComponent(JSON.stringify({ [title]: title }))}`)
    t.deepEqual(titlesIn(json), [title])
  }
  const lists = [all.slice(0, 50), all.slice(20)]
  for (const list of lists) {
    const answer = await find(
      list.map((text, at) => `filters[title][$in][${at}]=${encodeURIComponent(text)}`).join('&'),
    )
    t.deepEqual(titlesIn(answer), list.toSorted())
  }
})

/** Positions of texts in a request; the text replaces `*`. */
const PLACES = [
  ...[
    'filters[*]=1',
    'filters[title][*]=1',
    'filters[next][*]=1',
    'filters[next][*][$eq]=1',
    'filters[note][*]=1',
    'filters[*][$in]=1',
  ],
  ...[
    'filters[$or][0][*]=1',
    'filters[meta][*]=1',
    'filters[meta][$eq][*]=1',
    'filters[meta][$contains]=*',
    'filters[meta][$containsi]=*',
  ],
  ...[
    'pages',
    'price',
    'sold',
    'weight',
    'day',
    'opens',
    'at',
    'open',
    'id',
    'word',
    'slug',
    'createdAt',
    'documentId',
    'locale',
  ].flatMap(name => [
    `filters[${name}]=*`,
    `filters[${name}][$in][0]=*`,
    `filters[${name}][$gt]=*`,
    `filters[${name}][$containsi]=*`,
  ]),
  ...[
    'sort=*',
    'sort=title:*',
    'sort=title * nulls first',
    'sort[0]=*',
    'sort[*]=asc',
    'sort[title]=*',
    'sort=next.*',
    'sort=note.*:desc',
  ],
  ...[
    'fields=*',
    'fields[0]=*',
    'fields=title,*',
    'populate=*',
    'populate[*]=true',
    'populate[next][fields]=*',
    'populate[next][sort]=*',
  ],
  ...[
    'populate[parts][on][*]=true',
    'populate[next][filters][*]=1',
    'populate[next][*]=1',
    'populate=next.*',
    'populate[next][count]=*',
  ],
  ...[
    'locale=*',
    'locale[0]=*',
    'locale[*]=en',
    'status=*',
    'publicationFilter=*',
    'hasPublishedVersion=*',
    '_q=*',
    '*=1',
  ],
  ...[
    'pagination[page]=*',
    'pagination[limit]=*',
    'pagination[start]=*',
    'pagination[*]=1',
    'pagination[withCount]=*',
  ],
]

test.serial('no name, direction, path, locale or number of a request is copied into SQL', async t => {
  const before = await count()
  const wrong: string[] = []
  for (const place of PLACES) {
    for (const text of [
      ...HOSTILE,
      '\0',
      '\ud800',
      'title"',
      'title" DESC; --',
      'id::text',
      "meta->>'a'",
      'b0.title',
    ]) {
      const query = place.replaceAll('*', () => (text === '\ud800' ? '%ED%A0%80' : encodeURIComponent(text)))
      const { status } = await find(query)
      if (![200, 400].includes(status)) wrong.push(`${status} ${query}`)
    }
  }
  t.deepEqual(wrong, [])
  t.is(await count(), before)
})

test.serial('no documentId of a path is copied into SQL', async t => {
  const before = await count()
  for (const text of [...HOSTILE, '\0'].map(encodeURIComponent)) {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await world.ask(method, `/api/books/${text}`, {
        as: FULL,
        ...(method === 'PUT' ? { data: {} } : {}),
      })
      t.true([204, 404].includes(answer.status), `${method} ${text}: ${answer.status}`)
    }
  }
  t.is(await count(), before)
})

test.serial('bodies are stored as literals, and their keys and ids are not copied into SQL', async t => {
  for (const [at, text] of HOSTILE.entries()) {
    const data = {
      title: `new ${text}`,
      text,
      meta: { [text]: [text] },
      tags: [text],
      note: { text },
      parts: [{ __component: 'parts.note', text }],
    }
    const { documentId } = await world.make('POST', '/api/books?status=draft', data)
    t.like(await world.make('GET', `/api/books/${documentId}?status=draft&populate=*`), data)
    // Each third, for each is a write of its own.
    for (const wrong of at % 3 > 0
      ? []
      : [
          ...[
            { [text]: 1 },
            { note: { [text]: 1 } },
            { parts: [{ __component: text }] },
            { word: text },
            { next: { [text]: [] } },
          ],
          ...[
            { next: text },
            { next: { connect: [text] } },
            { next: { connect: [{ documentId, position: { before: text } }] } },
          ],
          ...[
            { next: { disconnect: [{ documentId: text }] } },
            { note: { id: text, text: 'x' } },
            { next: { connect: [{ documentId, locale: text }] } },
          ],
          ...[{ pages: text }, { sold: text }, { day: text }, { opens: text }, { at: text }, { mail: text }],
        ]) {
      const answer = await world.ask('PUT', `/api/books/${documentId}?status=draft`, {
        as: FULL,
        data: wrong,
      })
      t.true([200, 400].includes(answer.status), `${JSON.stringify(wrong)}: ${answer.status} ${answer.text}`)
    }
    const value = encodeURIComponent(text)
    t.is(
      (await world.ask('PUT', `/api/books/${documentId}?locale=${value}`, { as: FULL, data: {} })).status,
      400,
    )
    await world.make('DELETE', `/api/books/${documentId}`)
  }
})

test.serial('values, defaults and conditions of the project file are literals', async t => {
  for (const word of WORDS) {
    const made = await world.make('POST', '/api/books', { title: `word ${word}`, word })
    t.is(made.word, word)
    const found = await find(`filters[word]=${encodeURIComponent(word)}`)
    t.true(titlesIn(found).includes(`word ${word}`), word)
    await world.make('DELETE', `/api/books/${made.documentId}`)
  }
  const made = await world.make('POST', '/api/books?populate=note', { title: 'defaults', note: {} })
  t.like(made, { word: WORDS[3], text: 'it\'s \\ "$1"; --', more: { "it's": "\\'; --" } })
  t.like(made.note as object, { text: 'it\'s \\ "$1"' })
  const set = await world.ask('POST', '/api/books', { as: GUARDED, data: { title: 'set' } })
  t.is(JSON.parse(set.text).data.text, "'; DROP TABLE books; --")
  t.deepEqual(titlesIn(await find('', GUARDED)), HOSTILE.slice(0, 20).toSorted())
})

test.serial('tables created with hostile constants need no change at the next start', async t => {
  const { database, storage } = world
  const again = await migrate(database, storage.tables)
  t.deepEqual(again.ok && again.value.steps, [])
})

/** Positions of names in the project file; the name replaces `*`. */
const NAMES = [
  'contentTypes: { "*": { attributes: { a: string } } }',
  'contentTypes: { book: { pluralApiId: "*", attributes: { a: string } } }',
  'contentTypes: { book: { renamedFrom: "*", attributes: { a: string } } }',
  'contentTypes: { book: { attributes: { "*": string } } }',
  'contentTypes: { book: { attributes: { a: { type: string, renamedFrom: "*" } } } }',
  'contentTypes: { book: { indexes: [["*"]], attributes: { a: string } } }',
  'components: { "parts.*": { attributes: { a: string } } }',
  'i18n: { locales: [en, "*"] }',
  'database: { url: embedded, schema: "*" }',
]

test.serial('names that would need escaping in SQL are refused when the project is loaded', async t => {
  const taken: string[] = []
  for (const place of NAMES) {
    for (const name of [
      "a'b",
      'a"b',
      'a;b',
      'a b',
      'a--b;',
      'a\\\\b',
      'a\\u0000b',
      '"; DROP TABLE books; --',
    ]) {
      const folder = temporaryFolder()
      folder.write('project.yaml', `name: X\n${place.replace('*', () => name.replaceAll('"', '\\"'))}\n`)
      const compiled = await compileApp(folder.path, {})
      folder.remove()
      if (compiled.ok) taken.push(`${place} ${name}`)
    }
  }
  t.deepEqual(taken, [])
})
