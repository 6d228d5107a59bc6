import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Database, Transaction } from '../../core/database/database.ts'
import type { ImportReport } from '../../tools/transfer/import/import-documents.ts'
import type { Progress } from '../../tools/transfer/import/import-options.ts'
import { openSite, type Site } from '../content/site.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { exported, imported, type Place, projectFolder } from './streaming.ts'

const root = resolve(import.meta.dirname, '..', '..')

/** All that relations, versions and components can be: cycles, ordered lists on both sides, links that name versions. */
const PROJECT = `name: Rich
i18n: { locales: [en, fr, it], defaultLocale: en }
roles: { critic: { name: Critic } }
components:
  parts.leaf: { attributes: { label: { type: string, required: true }, pages: { type: relation, relation: oneToMany, target: page } } }
  parts.branch: { attributes: { note: text, leaves: { type: component, component: parts.leaf, repeatable: true }, picture: { type: media, multiple: false } } }
contentTypes:
  tag:
    attributes:
      name: { type: string, unique: true }
      pin: password
      secret: { type: string, private: true }
      amount: decimal
      big: biginteger
      at: time
      any: json
      pages: { type: relation, relation: manyToMany, target: page, mappedBy: tags }
      owner: { type: relation, relation: manyToOne, target: user }
      best: { type: relation, relation: manyToOne, target: page }
      some: { type: relation, relation: manyToMany, target: page }
      twin: { type: relation, relation: oneToOne, target: page, inversedBy: twin }
  page:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, required: true, minLength: 3 }
      slug: { type: uid, targetField: title }
      size: { type: integer, localized: false }
      parent: { type: relation, relation: manyToOne, target: page, inversedBy: children }
      children: { type: relation, relation: oneToMany, target: page, mappedBy: parent }
      tags: { type: relation, relation: manyToMany, target: tag, inversedBy: pages }
      twin: { type: relation, relation: oneToOne, target: tag, mappedBy: twin }
      zone: { type: dynamiczone, components: [parts.leaf, parts.branch] }
      shared: { type: component, component: parts.branch, repeatable: true, localized: false }
      pictures: { type: media, multiple: true, localized: false }
  front: { kind: single, draftAndPublish: true, attributes: { title: string, pages: { type: relation, relation: oneToMany, target: page } } }
`

const CONTENT = {
  'content/users.yaml': '[{ username: ann, email: ann@example.com, password: secret-of-ann, role: critic }]',
  'content/tags.yaml': `
- { documentId: red, name: Red, pin: "1234567", secret: hush, amount: 12.5, big: "9007199254740993", at: "10:11:12.5", any: "[1, {\\"a\\": null}]", owner: ann, best: { documentId: home, locale: fr }, twin: home }
- { documentId: blue, name: Blue, best: { documentId: home, status: draft }, some: [{ documentId: sub, locale: en }, { documentId: home, locale: fr, status: draft }] }
`,
  'content/pages.yaml': `
- documentId: home
  title: Home
  slug: home
  size: 3
  parent: sub
  tags: [blue, red]
  zone: [{ __component: parts.branch, note: n, leaves: [{ label: a, pages: [sub, home] }, { label: b }] }, { __component: parts.leaf, label: c }]
  shared: [{ note: one, picture: { file: dot.png } }, { note: two }]
  pictures: [{ file: dot.png }, { file: dot.png, name: Other }]
  locales: { fr: { title: Maison, slug: maison, parent: sub, tags: red, zone: [{ __component: parts.leaf, label: f }] } }
- { documentId: sub, title: Sub, slug: sub, parent: home, tags: [red, blue], locales: { fr: { title: Sous, slug: sous } } }
- { documentId: new, status: draft, title: New, tags: [red] }
`,
  'content/front.yaml': '[{ documentId: front, title: Front, pages: [sub, home] }]',
  'content/media/dot.png': readFileSync(join(root, 'content/media/pictures/ines.png')),
}

/** With drafts that were changed since, a place between two others, a gap where something was deleted, and dead rows. */
const AFTERWARDS = [
  `UPDATE pages SET title = 'Changed', size = 4, updated_at = '2030-01-02T03:04:05.006Z' WHERE document_id = 'home' AND status = 'draft' AND locale = 'en'`,
  `UPDATE components_parts_leaf SET label = 'changed' WHERE status = 'draft' AND label = 'b'`,
  `UPDATE pages_tags_links SET inverse_position = inverse_position - 1536 WHERE owner_id = (SELECT max(id) FROM pages WHERE document_id = 'sub')`,
  `DELETE FROM pages_tags_links WHERE owner_id IN (SELECT id FROM pages WHERE document_id = 'home' AND status = 'draft' AND locale = 'en') AND target_key = (SELECT id FROM tags WHERE document_id = 'blue')`,
  `UPDATE tags SET best_key = (SELECT min(id) FROM pages WHERE document_id = 'sub'), best_locale = 'fr' WHERE document_id = 'blue'`,
  `UPDATE tags SET published_at = '2020-02-02T00:00:00Z', created_at = '2019-01-01T00:00:00Z'`,
]

async function richSite(t: ExecutionContext): Promise<Site> {
  const site = await openSite(t, { 'project.yaml': PROJECT.replace('name: Rich\n', ''), ...CONTENT })
  await site.must()
  for (const text of AFTERWARDS) await site.rows(text)
  return site
}

const placeOf = ({ folder, database }: Site): Place => ({ folder: folder.path, database })

/** The same project over a database that is empty. */
async function elsewhere(t: ExecutionContext, site: Site): Promise<Place> {
  const yaml = readFileSync(join(site.folder.path, 'project.yaml'), 'utf8')
  return { folder: projectFolder(t, yaml).path, database: await openTestDatabase(t) }
}

test('an export that is imported into an empty database and exported again is identical byte by byte', async t => {
  const site = await richSite(t)
  const files = projectFolder(t, '').path
  const lines = await exported(placeOf(site), { files })
  const other = await elsewhere(t, site)
  t.like(await imported(other, lines, { files }), { made: 9, skipped: 0 })
  t.deepEqual(await exported(other), lines)
  t.deepEqual(uploads(other.folder), uploads(site.folder.path))

  // Nothing changes if all of it exists, for either conflict policy; later links come last.
  t.like(await imported(other, lines), { made: 0, skipped: 9 })
  const versions = `SELECT table_name, sum(version) FROM plinth_versions WHERE table_name <> 'plinth_users' GROUP BY 1 ORDER BY 1`
  const before = await other.database.run({ text: versions, values: [] })
  t.like(await imported(other, lines, { onConflict: 'update' }), { made: 0, changed: 9 })
  t.deepEqual(await other.database.run({ text: versions, values: [] }), before)
  const { rows } = await other.database.run({ text: LAST_PLACES, values: [] })
  t.deepEqual(rows, [[true, true, true]])
})

/** True if the next numbers of the sequences follow all rows and positions. */
const LAST_PLACES = `SELECT nextval('pages_id_seq') > (SELECT max(id) FROM pages),
  nextval('pages_tags_links_id_seq') * 1024 > (SELECT max(greatest(position, inverse_position)) FROM pages_tags_links),
  nextval('components_parts_leaf_id_seq') > (SELECT max(id) FROM components_parts_leaf)`

const uploads = (folder: string): readonly string[] => readdirSync(join(folder, '.plinth', 'uploads')).sort()

test('users are imported with exported password hashes, else without a password', async t => {
  const site = await richSite(t)
  const [other, another] = [await elsewhere(t, site), await elsewhere(t, site)]
  const whole = await exported(placeOf(site), { passwords: true })
  await imported(other, whole)
  t.deepEqual(await exported(other, { passwords: true }), whole)
  await imported(another, await exported(placeOf(site)))
  const { rows } = await another.database.run({ text: 'SELECT password FROM plinth_users', values: [] })
  t.deepEqual(rows, [[null]])
  // Over users who are there, a stream without passwords leaves theirs; one with others ends their sessions.
  await imported(other, await exported(another), { onConflict: 'update' })
  t.deepEqual(await exported(other, { passwords: true }), whole)
  await imported(another, whole, { onConflict: 'update' })
  const { rows: users } = await another.database.run({
    text: 'SELECT session_version, password IS NOT NULL FROM plinth_users',
    values: [],
  })
  t.deepEqual(users, [[1, true]])
})

test('the example project is exported and imported unchanged', async t => {
  const site = await openSite(t, {})
  for (const part of ['content', 'policies', 'middlewares', 'extensions'])
    cpSync(join(root, part), join(site.folder.path, part), { recursive: true })
  const yaml = readFileSync(join(root, 'project.yaml'), 'utf8')
  const name = (text: string) => text.replace(/^apiTokens:[\s\S]*?\n\n/m, '').replace('name: Field Guide', '')
  await site.must({ 'project.yaml': name(yaml) })
  const lines = await exported(placeOf(site))
  cpSync(join(root, 'extensions'), join(site.folder.path, 'extensions'), { recursive: true })
  const database = await openTestDatabase(t)
  await imported({ folder: site.folder.path, database }, lines)
  t.deepEqual(await exported({ folder: site.folder.path, database }), lines)
})

test('existing documents are skipped, refused or replaced as requested, missing versions included', async t => {
  const site = await richSite(t)
  const place = placeOf(site)
  const [header = '', ...lines] = await exported(place, { types: ['page'] })
  const home = JSON.parse(lines.find(line => line.includes('"documentId":"home"')) ?? '')
  home.versions = home.versions.filter(({ locale }: { locale: string }) => locale === 'fr')
  home.versions[0].values.title = 'Chez moi'
  home.shared.draft.shared = [{ note: 'two' }]
  const changed = [header, JSON.stringify(home)]
  t.like(await imported(place, changed), { made: 0, skipped: 1 })
  t.deepEqual(await exported(place, { types: ['page'] }), [header, ...lines])
  const [fault = ''] = (await imported(place, changed, { onConflict: 'fail' })) as readonly string[]
  t.true(fault.startsWith('documents.ndjson:2 page home: the database has it already'))
  t.like(await imported(place, changed, { onConflict: 'update' }), { changed: 1 })
  const [, ...after] = await exported(place, { types: ['page'] })
  const reported = JSON.parse(after.find(line => line.includes('"documentId":"home"')) ?? '')
  const { key: _, ...rest } = reported
  t.deepEqual(rest, home)
  t.deepEqual(
    after.filter(line => !line.includes('"documentId":"home"')),
    lines.filter(line => !line.includes('"documentId":"home"')),
  )
})

test('the record of an interrupted import that was changed by hand is refused with what to do', async t => {
  const folder = projectFolder(t, NUMBERS)
  const place = { folder: folder.path, database: await openTestDatabase(t) }
  const cut = imported(place, numbers(700), {
    progress: ({ stage, done }) => {
      if (stage === 'importing' && done > 400) throw new Error('cut off')
    },
  })
  await t.throwsAsync(cut, { message: 'cut off' })
  for (const decided of ['7', '{}', '{"keys":{},"places":{},"leftOut":[]}']) {
    await place.database.run({
      text: 'UPDATE plinth_imports SET decided = $1::jsonb',
      values: [decided],
    })
    const error = await t.throwsAsync(imported(place, numbers(700)), { name: 'RecordFault' })
    t.regex(error?.message ?? '', /^the record of an unfinished import in plinth_imports was changed by hand/)
  }
  const error = await t.throwsAsync(imported(place, numbers(700)))
  const [, remove = ''] = /with: (DELETE [^;]*);/.exec(error?.message ?? '') ?? []
  await place.database.run({ text: remove, values: [] })
  t.like(await imported(place, numbers(700), { onConflict: 'update' }), { made: 200, changed: 500 })
})

test('an interrupted import resumes where it stopped', async t => {
  const folder = projectFolder(t, NUMBERS)
  const place = { folder: folder.path, database: await openTestDatabase(t) }
  const lines = numbers(700)
  const cut = imported(place, lines, {
    progress: ({ stage, done }) => {
      if (stage === 'importing' && done > 400) throw new Error('cut off')
    },
  })
  await t.throwsAsync(cut, { message: 'cut off' })
  const other = numbers(3, 'other')
  const [unfinished = ''] = (await imported(place, other)) as readonly string[]
  t.regex(unfinished, /^An import of another file stopped after its line 501/)
  t.like(await imported(place, lines), { made: 200, before: 500 })
  const { rows } = await place.database.run({
    text: `SELECT count(*), count(l.id) FROM numbers n LEFT JOIN numbers l ON l.id = n.next_key`,
    values: [],
  })
  t.deepEqual(rows, [[700, 700]])
  t.like(await imported(place, other), { made: 3, before: 0 })
})

/** The database, whose first transaction with this statement is followed by other work; or the statement itself is. */
function followedBy(
  database: Database,
  name: string,
  {
    statement,
    transaction = async () => {},
  }: {
    readonly statement?: (transaction: Transaction) => Promise<unknown>
    readonly transaction?: () => Promise<unknown>
  },
): Database {
  let isDone = false
  return {
    ...database,
    run: (...all) => database.run(...all),
    async transaction(work, options) {
      let isNow = false
      const run =
        (inner: Transaction): Transaction['run'] =>
        async (...all) => {
          const rows = await inner.run(...all)
          if (all[0].name === name && !isDone) {
            isDone = true
            isNow = true
            await statement?.(inner)
          }
          return rows
        }
      const value = await database.transaction(inner => work({ ...inner, run: run(inner) }), options)
      if (isNow) await transaction()
      return value
    },
  }
}

const WRITTEN = {
  text: 'SELECT count(*), count(l.id) FROM numbers n LEFT JOIN numbers l ON l.id = n.next_key',
  values: [],
}

test('of two imports of a file at once, one goes on and the other leaves its checkpoint', async t => {
  const database = await openTestDatabase(t)
  const place = { folder: projectFolder(t, NUMBERS).path, database }
  const lines = numbers(700)
  // The other process writes a batch between the beginning of this import and its first batch.
  const other = async () => {
    const cut = (progress: Progress) => {
      if (progress.stage === 'importing' && progress.done > 200) throw new Error('cut off')
    }
    await t.throwsAsync(imported(place, lines, { progress: cut }), { message: 'cut off' })
  }
  const late = { ...place, database: followedBy(database, 'begin an import', { transaction: other }) }
  const [refusal = ''] = (await imported(late, lines)) as readonly string[]
  t.regex(refusal, /:1 another process imports into this database as well: import this file again when/)
  t.like(await imported(place, lines), { made: 450, before: 250 })
  t.deepEqual((await database.run(WRITTEN)).rows, [[700, 700]])
})

test('an import that begins does not remove the checkpoint of one that has written meanwhile', async t => {
  const database = await openTestDatabase(t)
  const place = { folder: projectFolder(t, NUMBERS).path, database }
  const cut = (progress: Progress) => {
    if (progress.stage === 'importing') throw new Error('cut off')
  }
  await t.throwsAsync(imported(place, numbers(700), { progress: cut }), { message: 'cut off' })
  const done = async (count: number, runner: Pick<Database, 'run'> = database) =>
    await runner.run({ text: 'UPDATE plinth_imports SET done = $1', values: [count] })
  await done(1)
  const late = followedBy(database, 'read unfinished imports', { statement: inner => done(251, inner) })
  const [refusal = ''] = (await imported(
    { ...place, database: late },
    numbers(3, 'other'),
  )) as readonly string[]
  t.regex(refusal, /^An import of another file stopped after its line 251/)
  t.like(await imported(place, numbers(700)), { made: 450, before: 250 })
  t.deepEqual((await database.run(WRITTEN)).rows, [[700, 700]])
})

test('an import into an empty database does not scan its tables in each batch', async t => {
  const place = manyNumbers(t, await openTestDatabase(t))
  const count = 8_000
  t.like(await imported(place, numbers(count)), { made: count })
  const { scanned } = await readCounts(place)
  t.true(scanned <= 2 * count, `${scanned} rows were read by scans`)
})

// Without ANALYZE, PostgreSQL knows the number of rows, but expects many of each document.
for (const statement of ['VACUUM', 'VACUUM ANALYZE'])
  test(`an import of documents that exist looks each of them up by an index after ${statement}`, async t => {
    const place = manyNumbers(t, await openTestDatabase(t), ', draftAndPublish: true')
    const count = 3_000
    const lines = numbers(count).map(line =>
      line
        .replace('"draftAndPublish":false', '"draftAndPublish":true')
        .replace('"versions":[{', '"versions":[{"status":"draft",'),
    )
    t.like(await imported(place, lines), { made: count })
    await place.database.run({ text: `${statement} numbers`, values: [] })
    const before = await readCounts(place)
    t.like(await imported(place, lines), { made: 0, skipped: count })
    const after = await readCounts(place)
    const [scanned, found] = [after.scanned - before.scanned, after.found - before.found]
    t.true(scanned <= 2 * count, `${scanned} rows were read by scans`)
    t.true(found >= count && found <= 5 * count, `${found} entries of indexes were read`)
  })

const PARTED = `name: Parted
components: { parts.line: { attributes: { text: string, number: { type: relation, relation: manyToOne, target: number } } } }
contentTypes: { number: { draftAndPublish: true, attributes: { value: integer, lines: { type: component, component: parts.line, repeatable: true }, others: { type: relation, relation: manyToMany, target: number } } } }`

/** Each has two components, which lead to the one before, and two links. */
function partedNumbers(count: number, round: string): readonly string[] {
  const id = (index: number) => `n${index % count}`
  const types = {
    'api::number.number': {
      draftAndPublish: true,
      localized: false,
      attributes: {
        value: 'integer',
        lines: 'component parts.line[]',
        others: 'relation api::number.number[]',
      },
    },
  }
  const components = {
    'parts.line': { text: 'string', number: 'relation api::number.number' },
  }
  const head = { ...JSON.parse(DESCRIBED), project: 'Parted', types, components }
  const lines = Array.from({ length: count }, (_, index) => {
    const line = (text: string) => ({ text: `${text} of ${round}`, number: id(index + count - 1) })
    const values = {
      value: index,
      lines: [line('first'), line('second')],
      others: [id(index + 1), id(index + 2)],
    }
    const versions = [{ status: 'draft', values }]
    return JSON.stringify({ type: 'api::number.number', documentId: id(index), versions })
  })
  return [JSON.stringify(head), ...lines]
}

test('an import ends with statistics of what it wrote', async t => {
  const place = { folder: projectFolder(t, PARTED).path, database: await openTestDatabase(t) }
  const rowsOf = async () => {
    const text = `SELECT reltuples FROM pg_class WHERE relname = 'numbers'`
    return Number((await place.database.run({ text, values: [] })).rows[0]?.[0])
  }
  await imported(place, partedNumbers(1000, 'round one'))
  t.is(await rowsOf(), 1000)
})

test('an update of documents whose tables were never analysed does not scan them in each batch', async t => {
  const place = { folder: projectFolder(t, PARTED).path, database: await openTestDatabase(t) }
  const count = 6_000
  t.like(await imported(place, partedNumbers(count, 'round one')), { made: count })
  const scannedRows = async () => {
    await place.database.run({ text: 'SELECT pg_stat_force_next_flush()', values: [] })
    const text = `SELECT relname, seq_tup_read FROM pg_stat_user_tables WHERE relname NOT LIKE 'plinth%'`
    const { rows } = await place.database.run({ text, values: [] })
    return new Map(rows.map(([name, scanned]) => [String(name), Number(scanned)]))
  }
  const before = await scannedRows()
  t.like(await imported(place, partedNumbers(count, 'round two'), { onConflict: 'update' }), {
    changed: count,
  })
  for (const [name, scanned] of await scannedRows()) {
    const rows = scanned - (before.get(name) ?? 0)
    t.true(rows <= 25 * count, `${rows} rows of ${name} were read by scans`)
  }
})

const manyNumbers = (t: ExecutionContext, database: Database, more = ''): Place => {
  const plain = NUMBERS.replace('unique: true, max: 2000', 'max: 20000')
  return { folder: projectFolder(t, plain.replace(/ \} \}$/, `${more} } }`)).path, database }
}

/** What PostgreSQL has read of the table `numbers` so far: rows by scans of it, and entries of its indexes. */
async function readCounts({ database }: Place) {
  await database.run({ text: 'SELECT pg_stat_force_next_flush()', values: [] })
  const text = `SELECT (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'numbers'),
    (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'numbers')`
  const { rows } = await database.run({ text, values: [] })
  return { scanned: Number(rows[0]?.[0]), found: Number(rows[0]?.[1]) }
}

test('documents of a type with an attribute `name` are found again', async t => {
  const place = {
    folder: projectFolder(t, NUMBERS.replace('value:', 'name: string, value:')).path,
    database: await openTestDatabase(t),
  }
  const lines = numbers(3).map(line =>
    line
      .replace('"attributes":{', '"attributes":{"name":"string",')
      .replace('"values":{', '"values":{"name":"x",'),
  )
  t.like(await imported(place, lines), { made: 3 })
  t.like(await imported(place, lines, { onConflict: 'update' }), { made: 0, changed: 3 })
})

const NUMBERS = `name: Numbers
contentTypes: { number: { attributes: { value: { type: integer, unique: true, max: 2000 }, next: { type: relation, relation: oneToOne, target: number } } } }`

const DESCRIBED = `{"plinth":"documents","format":1,"project":"Numbers","fingerprint":"","passwords":false,"locales":["en"],"types":{"api::number.number":{"draftAndPublish":false,"localized":false,"attributes":{"value":"integer","next":"relation api::number.number"}}},"components":{}}`

/** Each leads to the next one, the last to the first. */
const numbers = (count: number, called = 'n'): readonly string[] => [
  DESCRIBED,
  ...Array.from({ length: count }, (_, index) =>
    lineOf(`${called}${index}`, {
      value: index + (called === 'n' ? 0 : 1000),
      next: `${called}${(index + 1) % count}`,
    }),
  ),
]

const lineOf = (documentId: string, values: object, more: object = {}): string =>
  JSON.stringify({ type: 'api::number.number', documentId, versions: [{ values, ...more }] })

test('every line is checked before the first write, and reported with its document and attribute', async t => {
  const folder = projectFolder(t, NUMBERS)
  const place = { folder: folder.path, database: await openTestDatabase(t) }
  t.like(await imported(place, numbers(3)), { made: 3 })
  const wrong = [
    DESCRIBED,
    '{"type":',
    lineOf('a', { value: 'x' }),
    lineOf('b', { value: 3000 }),
    lineOf('c', { valeu: 1 }),
    lineOf('d', { next: 'missing' }),
    lineOf('e', { value: 2 }),
    lineOf('f', { value: 7 }),
    lineOf('g', { value: 7 }),
    lineOf('h', { value: 8 }, { locale: 'en' }),
    lineOf('i', { value: 9 }, { createdAt: 'yesterday' }),
    '{"type":"api::numbr.numbr","documentId":"a b","versions":[]}',
    lineOf('j', { value: 10 }, { id: 2_000_000_001 }),
    `{"type":"api::number.number","documentId":"deep","versions":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
  ]
  const reported = (await imported(place, wrong)) as readonly string[]
  t.deepEqual(
    reported.map(line => line.replace(/: expected JSON: .*/, ': expected JSON')),
    [
      'documents.ndjson:2 expected JSON: Unexpected end of JSON input',
      'documents.ndjson:12 `documentId` is a text of 1 to 255 characters without blanks, `/`, `?` and `#`',
      'documents.ndjson:12 `versions` is a list of at least one version',
      'documents.ndjson:13 `versions[0].id` is the number of a row, from 1 to 2000000000',
      'documents.ndjson:14 expected at most 1000 levels of lists and objects',
    ],
  )
  const values = (await imported(place, [wrong[0] ?? '', ...wrong.slice(2, -3)])) as readonly string[]
  t.deepEqual(values, [
    'documents.ndjson:2 number a: value must be a `number` type, but the final value was: `NaN` (cast from the value `"x"`).',
    'documents.ndjson:3 number b: value must be less than or equal to 2000',
    'documents.ndjson:4 number c: unknown attribute `valeu` of `number`: did you mean `value`?',
    'documents.ndjson:5 number d: `next` leads to the number `missing`, which neither the stream has nor the database',
    'documents.ndjson:6 number e: `value` must be unique, and another document has `2` already',
    'documents.ndjson:8 number g: `value` must be unique, and another document has `7` already, in line 7',
    'documents.ndjson:9 number h: `number` has no locales',
    'documents.ndjson:10 number i: `createdAt` is a moment, such as `2026-01-02T03:04:05.006Z`',
  ])
  t.like(await imported(place, numbers(5), { dryRun: true }), { made: 2, skipped: 3 })
  const { rows } = await place.database.run({ text: 'SELECT count(*) FROM numbers', values: [] })
  t.deepEqual(rows, [[3]])
})

test('a line may have more faults than a call can have arguments', async t => {
  const place = { folder: projectFolder(t, NUMBERS).path, database: await openTestDatabase(t) }
  const next = Array.from({ length: 150_000 }, () => 1)
  const reported = (await imported(place, [DESCRIBED, lineOf('a', { next })])) as readonly string[]
  t.is(reported.length, 150_000)
  t.regex(reported[0] ?? '', /^documents\.ndjson:2 number a: next\[0\]/)
})

test('a value that JSON cannot keep, or that belongs elsewhere, is reported with what to do', async t => {
  const yaml = 'name: Tags\ncontentTypes: { tag: { attributes: { big: biginteger } } }'
  const place = { folder: projectFolder(t, yaml).path, database: await openTestDatabase(t) }
  const at = '2026-01-02T03:04:05.006Z'
  const nothing = projectFolder(t, yaml)
  const other = await openSite(t, { 'project.yaml': yaml.replace('name: Tags\n', '') })
  await other.must()
  const header = (await exported({ folder: nothing.path, database: other.database }))[0] ?? ''
  const line = (id: string, values: string) =>
    `{"type":"api::tag.tag","documentId":"${id}","versions":[{"createdAt":"${at}","updatedAt":"${at}","values":${values}}]}`
  const wrong = [line('a', '{"big":9007199254740993}'), line('b', `{"createdAt":"${at}"}`)]
  t.deepEqual(await imported(place, [header, ...wrong]), [
    'documents.ndjson:2 tag a: big is too large to be kept exactly: put it in quotes',
    'documents.ndjson:3 tag b: `createdAt` belongs to the document or its version, not to `values`',
  ])
  const right = line('a', '{"big":"9007199254740993"}')
  t.like(await imported(place, [header, right]), { made: 1 })
  t.true((await exported(place))[1]?.includes('"big":"9007199254740993"'))
})

test('row ids and keys of other documents are refused before anything is written', async t => {
  const yaml = `name: Ids
i18n: { locales: [en, fr], defaultLocale: en }
contentTypes: { tag: { localized: true, attributes: { name: string } }, plain: { attributes: { name: string } } }
`
  const site = await openSite(t, { 'project.yaml': yaml.replace('name: Ids\n', '') })
  await site.must()
  const place = { folder: projectFolder(t, yaml).path, database: site.database }
  const [header = ''] = await exported(place)
  const at = '2026-01-02T03:04:05.006Z'
  const version = (id: number, locale?: string) => ({ id, locale, createdAt: at, updatedAt: at, values: {} })
  const line = (type: string, documentId: string, versions: readonly object[], key?: number) =>
    JSON.stringify({ type: `api::${type}.${type}`, documentId, key, versions })
  const many = Array.from({ length: 1_100 }, (_, index) => line('plain', `p${index}`, [version(index + 1)]))
  const wrong = [
    line('tag', 'a', [version(10, 'en')]),
    line('tag', 'b', [version(11, 'fr')], 10),
    line('tag', 'c', [version(12, 'en'), version(12, 'fr')]),
    ...many,
    line('plain', 'last', [version(7)]),
    line('plain', 'p1', [version(2)]),
  ]
  t.deepEqual(await imported(place, [header, ...wrong]), [
    'documents.ndjson:3 tag b: another document has the key 10 already',
    'documents.ndjson:4 tag c: another version has the row id 12 already',
    'documents.ndjson:1105 plain last: another version has the row id 7 already',
    'documents.ndjson:1106 plain p1: there is a line of this document already',
  ])
  t.is((await exported(place)).length, 1)
  t.like(await imported(place, [header, ...wrong.slice(0, 1), ...many]), { made: 1_101 })
})

test('listeners receive events of an import on demand, one for each version', async t => {
  const folder = projectFolder(t, NUMBERS)
  folder.write(
    'extensions/ears.js',
    `import { defineExtension } from 'plinth'
export default defineExtension({ register({ documents }) { documents.on('number.*', () => {}) } })`,
  )
  const place = { folder: folder.path, database: await openTestDatabase(t) }
  await imported(place, numbers(2), { events: true })
  await imported(place, [DESCRIBED, lineOf('n0', { value: 5 })], { events: true, onConflict: 'update' })
  await imported(place, [DESCRIBED, lineOf('n1', { value: 6 })], { onConflict: 'update' })
  const { rows } = await place.database.run({
    text: 'SELECT document_id, action FROM plinth_outbox ORDER BY id',
    values: [],
  })
  t.deepEqual(rows, [
    ['n0', 'create'],
    ['n1', 'create'],
    ['n0', 'update'],
  ])
})

const MOODS = `name: Moods
i18n: { locales: [en, fr], defaultLocale: en }
contentTypes:
  song:
    localized: true
    attributes:
      title: string
      mood: { type: string, default: calm }
      tone: { type: string, default: low, localized: false }
`

test('a locale that an import adds takes defaults for omitted values, and causes a create event', async t => {
  const folder = projectFolder(t, MOODS)
  folder.write(
    'extensions/ears.js',
    `import { defineExtension } from 'plinth'
export default defineExtension({ register({ documents }) { documents.on('song.*', () => {}) } })`,
  )
  const place = { folder: folder.path, database: await openTestDatabase(t) }
  await imported(place, [])
  const [header = ''] = await exported(place)
  const song = (values: object, locales: readonly string[], shared = {}) =>
    JSON.stringify({
      type: 'api::song.song',
      documentId: 's',
      versions: locales.map(locale => ({ locale, values })),
      shared: { published: shared },
    })
  await imported(place, [header, song({ title: 'One', mood: 'wild' }, ['en'], { tone: 'high' })])
  const less = JSON.parse(header)
  less.types['api::song.song'].attributes = { title: 'string' }
  const update = [JSON.stringify(less), song({ title: 'Two' }, ['en', 'fr'])]
  t.like(await imported(place, update, { onConflict: 'update', events: true }), { changed: 1 })
  const { rows } = await place.database.run({
    text: 'SELECT locale, title, mood, tone FROM songs ORDER BY locale',
    values: [],
  })
  t.deepEqual(rows, [
    ['en', 'Two', 'wild', 'high'],
    ['fr', 'Two', 'calm', 'high'],
  ])
  const events = await place.database.run({
    text: `SELECT locale, action, origin->'attributes' ? 'title' FROM plinth_outbox ORDER BY id`,
    values: [],
  })
  t.deepEqual(events.rows, [
    ['en', 'update', true],
    ['fr', 'create', true],
  ])
})

test('unique values of components are checked across lines and documents', async t => {
  const folder = projectFolder(t, TWINS)
  const place = { folder: folder.path, database: await openTestDatabase(t) }
  await imported(place, numbers(0))
  const [header = ''] = await exported(place)
  const twin = (documentId: string, ...codes: readonly string[]) =>
    JSON.stringify({
      type: 'api::twin.twin',
      documentId,
      versions: [{ values: { parts: codes.map(code => ({ code })) } }],
    })
  t.deepEqual(await imported(place, [header, twin('a', 'x', 'y'), twin('b', 'z', 'z'), twin('c', 'x')]), [
    'documents.ndjson:3 twin b: `parts[1].code` must be unique, and another component has `z` already, in line 3',
    'documents.ndjson:4 twin c: `parts[0].code` must be unique, and another component has `x` already, in line 2',
  ])
  t.like(await imported(place, [header, twin('a', 'x', 'y')]), { made: 1 })
  t.like(await imported(place, [header, twin('a', 'y', 'x')], { onConflict: 'update' }), { changed: 1 })
  t.deepEqual(await imported(place, [header, twin('d', 'y')]), [
    'documents.ndjson:2 twin d: `parts[0].code` must be unique, and another component has `y` already',
  ])
})

const TWINS = `name: Twins
components: { a.part: { attributes: { code: { type: string, unique: true } } } }
contentTypes:
  number: { attributes: { value: integer, next: { type: relation, relation: oneToOne, target: number } } }
  twin: { attributes: { parts: { type: component, component: a.part, repeatable: true } } }`

test('attributes that the stream omits take their defaults, and required ones are reported', async t => {
  const more = (attributes: string) => NUMBERS.replace('attributes: {', `attributes: { ${attributes},`)
  const database = await openTestDatabase(t)
  const place = { folder: projectFolder(t, more('kind: { type: string, default: new }')).path, database }
  t.like(await imported(place, numbers(1)), { made: 1 })
  const { rows } = await database.run({ text: 'SELECT kind FROM numbers', values: [] })
  t.deepEqual(rows, [['new']])
  const must = 'kind: { type: string, default: new }, owner: { type: string, required: true, backfill: old }'
  const stricter = { folder: projectFolder(t, more(must)).path, database }
  const lines = [DESCRIBED, lineOf('n0', { value: 5 }), lineOf('n1', { value: 6 })]
  t.deepEqual(await imported(stricter, lines, { onConflict: 'update' }), [
    'documents.ndjson:3 number n1: owner must be defined.',
  ])
  t.like(await imported(stricter, lines.slice(0, 2), { onConflict: 'update' }), { changed: 1 })
})

test('bytes that cannot be stored are reported, and nothing is written', async t => {
  const folder = projectFolder(t, NUMBERS)
  const place = { folder: folder.path, database: await openTestDatabase(t) }
  await imported(place, numbers(1))
  const [header = ''] = await exported(place, { types: ['file'] })
  folder.write('bytes/ok.txt', 'ok')
  const file = (documentId: string, hash: string, more: object = {}) =>
    JSON.stringify({
      type: 'plugin::upload.file',
      documentId,
      versions: [
        {
          values: {
            name: 'a',
            hash,
            ext: '.txt',
            mime: 'text/plain',
            size: 1,
            url: '/x',
            provider: 'local',
            ...more,
          },
        },
      ],
    })
  const files = join(folder.path, 'bytes')
  const formats = { small: { hash: 'none', ext: '.png' } }
  t.deepEqual(await imported(place, [header, file('a', '../b'), file('b', 'ok', { formats })], { files }), [
    'documents.ndjson:2 file a: its bytes cannot be kept: `hash` and `ext` come to "../b.txt", which no storage takes',
    `documents.ndjson:3 file b: its bytes are missing: no file \`none.png\` in ${files}`,
  ])
  t.like(
    await imported(place, [header, file('a', '../b', { provider: 'other' }), file('b', 'ok')], { files }),
    {
      made: 2,
    },
  )
})

test('a stream of another model is refused with all differences', async t => {
  const folder = projectFolder(t, NUMBERS.replace('value:', 'amount:'))
  const place = { folder: folder.path, database: await openTestDatabase(t) }
  const other = DESCRIBED.replace('"draftAndPublish":false', '"draftAndPublish":true').replace(
    '"components":{}',
    '"components":{"a.b":{}}',
  )
  t.deepEqual(await imported(place, [other]), [
    'documents.ndjson:1 `draftAndPublish` of `number` is true in the stream and false in the project',
    'documents.ndjson:1 `number` has no attribute `value` (integer)',
    'documents.ndjson:1 the project has no component `a.b`',
  ])
  t.deepEqual(await imported(place, ['{"a":1}']), [
    'documents.ndjson:1 a stream begins with the line of `plinth export` that says what its documents fit',
  ])
  t.deepEqual(await imported(place, []), ['documents.ndjson:1 the file is empty'])
})

test('invalid documents are skipped on demand, with all links to them, and each is reported', async t => {
  const place = { folder: projectFolder(t, NUMBERS).path, database: await openTestDatabase(t) }
  const lines = [
    DESCRIBED,
    '{"type":',
    ...Array.from({ length: 600 }, (_, index) => lineOf(`n${index}`, { next: `n${index + 1}` })),
    lineOf('n600', { value: 'x' }),
    lineOf('a', { value: 3000 }),
    lineOf('b', { value: 1 }),
    lineOf('c', { value: 1, next: 'b' }),
    lineOf('d', { value: 2, next: 'b' }),
    lineOf('d', {}),
  ]
  await imported(place, [DESCRIBED])
  const dry = (await imported(place, lines, { skipsInvalid: true, dryRun: true })) as ImportReport
  const done = (await imported(place, lines, { skipsInvalid: true })) as ImportReport
  t.like(done, { made: 2, before: 0 })
  t.deepEqual([dry.made, dry.leftOut], [2, done.leftOut])
  t.is(new Set(done.leftOut.map(({ line }) => line)).size, lines.length - 3)
  t.deepEqual(
    done.leftOut
      .map(({ line, about, message }) => [line, about, message])
      .filter(([line]) => Number(line) > 600),
    [
      [601, 'number n598', LOST.replace('?', 'n599')],
      [602, 'number n599', LOST.replace('?', 'n600')],
      [
        603,
        'number n600',
        'value must be a `number` type, but the final value was: `NaN` (cast from the value `"x"`).',
      ],
      [604, 'number a', 'value must be less than or equal to 2000'],
      [606, 'number c', '`value` must be unique, and another document has `1` already, in line 605'],
      [608, 'number d', 'there is a line of this document already'],
    ],
  )
  t.deepEqual(await values(place), [
    ['b', 1],
    ['d', 2],
  ])
})

const LOST =
  '`next` leads to the number `?`, which neither the stream has nor the database, or which is left out'

const values = async ({ database }: Place) =>
  (await database.run({ text: 'SELECT document_id, value FROM numbers ORDER BY id', values: [] })).rows

test('documents that become invalid during the import are skipped with the links to them, also after it is resumed', async t => {
  const place = { folder: projectFolder(t, NUMBERS).path, database: await openTestDatabase(t) }
  await imported(place, [DESCRIBED, lineOf('there', { value: 1 }), lineOf('moved', { value: 2 })])
  const lines = [
    DESCRIBED,
    lineOf('moved', { value: 5, next: 'late' }),
    lineOf('fine', { value: 3, next: 'late' }),
    ...Array.from({ length: 300 }, (_, index) => lineOf(`n${index}`, {})),
    lineOf('late', { value: 1 }),
    lineOf('after', { value: 4, next: 'late' }),
    lineOf('last', { value: 6 }),
    ...Array.from({ length: 300 }, (_, index) => lineOf(`m${index}`, {})),
  ]
  const options = { skipsInvalid: true, onConflict: 'update' } as const
  const cut = imported(place, lines, {
    ...options,
    progress: ({ stage, done }) => {
      if (stage === 'importing' && done > 400) throw new Error('cut off')
    },
  })
  await t.throwsAsync(cut, { message: 'cut off' })
  const done = (await imported(place, lines, options)) as ImportReport
  t.deepEqual(done.leftOut, [
    {
      line: 304,
      about: 'number late',
      message: '`value` must be unique, and another document has `1` already',
    },
    {
      line: 304,
      about: 'number late',
      message: 'links of lines before it that led to it are left out, too: 2',
    },
    { line: 305, about: 'number after', message: LOST.replace('?', 'late') },
  ])
  t.deepEqual(
    (await values(place)).filter(([, value]) => value !== null),
    [
      ['there', 1],
      ['moved', 5],
      ['fine', 3],
      ['last', 6],
    ],
  )
  const { rows } = await place.database.run({ text: 'SELECT count(next_key) FROM numbers', values: [] })
  t.deepEqual(rows, [[0]])
  t.deepEqual(await imported(place, lines, { onConflict: 'update' }), [
    'documents.ndjson:304 number late: `value` must be unique, and another document has `1` already',
  ])
})
