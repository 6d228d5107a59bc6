import anyTest, { type TestFn } from 'ava'
import { openRandom } from '../harness/random.ts'
import { testServer } from '../harness/test-database.ts'
import { ask, create, openTwoCaches, pick, type RandomWriter, sql, type TwoCaches } from './random-writer.ts'
import { FULL } from './two-apps.ts'

// Writes of every kind that leave some cached responses as they are: each response is compared with one without a cache after
// every write. CHANGE_ROUNDS: writes. CHANGE_SEED repeats a run.

const ROUNDS = Number(process.env.CHANGE_ROUNDS ?? 60)
const SEED = Number(process.env.CHANGE_SEED ?? Date.now() % 1_000_000)

const PROJECT = `
name: Random changes
server: { rateLimit: { api: false, auth: false } }
i18n: { locales: [en, de] }
components:
  shared.seo: { attributes: { title: string } }
contentTypes:
  shelf:
    attributes:
      name: string
      notes: { type: relation, relation: oneToMany, target: note, mappedBy: shelf }
  tag:
    attributes: { name: string }
  note:
    attributes:
      title: string
      rating: integer
      body: text
      weight: float
      meta: json
      seo: { type: component, component: shared.seo, repeatable: false }
      shelf: { type: relation, relation: manyToOne, target: shelf, inversedBy: notes }
      tags: { type: relation, relation: manyToMany, target: tag }
  post:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, localized: true }
      rating: integer
apiTokens: { full: { type: full-access, secret: ${FULL} } }
`

const test = anyTest as TestFn<TwoCaches>

test.before(async t => {
  t.context = await openTwoCaches(PROJECT)
})

test.after.always(t => t.context.close())

interface Writer extends RandomWriter {
  readonly notes: string[]
  readonly posts: string[]
  readonly shelves: string[]
  readonly tags: string[]
}

const newNote = (writer: Writer): object => ({
  title: `title ${writer.random(40)}`,
  rating: writer.random(5),
  weight: 0,
  meta: { a: 1 },
  seo: { title: 'seo' },
  ...(writer.random(2) === 0 && { shelf: pick(writer, writer.shelves), tags: [pick(writer, writer.tags)] }),
})

const noteOf = (writer: Writer): string => `/api/notes/${pick(writer, writer.notes)}`
const postOf = (writer: Writer): string => `/api/posts/${pick(writer, writer.posts)}`

type Write = (writer: Writer) => Promise<unknown> | undefined

const changeNote =
  (data: (writer: Writer) => object): Write =>
  writer =>
    ask(writer, 'PUT', noteOf(writer), data(writer))

/** SQL that changes some notes; `$1` is a random number below 40. */
const inSql =
  (text: string): Write =>
  writer =>
    sql(writer, text.replaceAll('$1', '$1::integer'), writer.random(40))

const COLUMNS = '(document_id, title, rating, created_at, updated_at, published_at)'

const API_WRITES: readonly Write[] = [
  writer => create(writer, '/api/notes', writer.notes, newNote(writer)),
  writer =>
    create(writer, '/api/posts', writer.posts, {
      title: `post ${writer.random(40)}`,
      rating: writer.random(5),
    }),
  changeNote(({ random }) => ({ title: `title ${random(40)}` })),
  changeNote(({ random }) => ({ rating: random(5) })),
  changeNote(({ random }) => ({ body: `body ${random(40)}` })),
  changeNote(({ random }) => ({ seo: { title: `seo ${random(40)}` } })),
  changeNote(writer => ({ shelf: pick(writer, writer.shelves) })),
  changeNote(writer => ({ tags: [pick(writer, writer.tags), pick(writer, writer.tags)] })),
  writer =>
    ask(writer, 'PUT', `/api/shelves/${pick(writer, writer.shelves)}`, { name: `shelf ${writer.random(9)}` }),
  writer => ask(writer, 'PUT', `/api/tags/${pick(writer, writer.tags)}`, { name: `tag ${writer.random(9)}` }),
  writer => ask(writer, 'PUT', postOf(writer), { rating: writer.random(5) }),
  writer => ask(writer, 'PUT', `${postOf(writer)}?status=draft`, { title: `draft ${writer.random(40)}` }),
  writer => ask(writer, 'PUT', `${postOf(writer)}?locale=de`, { title: `Titel ${writer.random(40)}` }),
  writer => ask(writer, 'POST', `${postOf(writer).replace('/api/', '/api/actions/')}/unpublish`),
  writer => (writer.random(4) === 0 ? ask(writer, 'DELETE', noteOf(writer)) : undefined),
  writer => (writer.random(4) === 0 ? ask(writer, 'DELETE', postOf(writer)) : undefined),
]

const SQL_WRITES: readonly Write[] = [
  inSql('UPDATE notes SET body = $1::text WHERE id = (SELECT min(id) + $1 FROM notes)'),
  inSql('UPDATE notes SET title = $1::text WHERE id = (SELECT min(id) + $1 FROM notes)'),
  inSql("UPDATE notes SET rating = $1 % 5, title = 'title ' || ($1 % 7) WHERE id % 20 = $1 % 20"),
  inSql('UPDATE notes SET rating = (rating + 1) % 5 WHERE $1 > 35'),
  inSql('UPDATE notes SET rating = rating WHERE id % 3 = $1 % 3'),
  inSql('UPDATE notes SET title = $1::text WHERE false'),
  inSql(
    `UPDATE notes SET weight = CASE WHEN weight::text = '0' THEN '-0' ELSE '0' END::float8 WHERE id % 10 = $1 % 10`,
  ),
  inSql(
    `UPDATE notes SET meta = CASE WHEN meta::text LIKE '%1.0%' THEN '{"a": 1}' ELSE '{"a": 1.0}' END::jsonb WHERE id % 10 = $1 % 10`,
  ),
  inSql(
    'UPDATE notes SET id = id + 100000 WHERE id < 100000 AND id % 20 = $1 % 20 AND NOT EXISTS (SELECT FROM notes_tags_links WHERE owner_id = notes.id)',
  ),
  inSql('UPDATE notes SET document_id = document_id || $1 WHERE id % 30 = $1 % 30'),
  inSql(
    `INSERT INTO notes ${COLUMNS} SELECT gen_random_uuid(), 'sql ' || n, n % 5, now(), now(), now() FROM generate_series(1, 1 + $1 % 12) AS n`,
  ),
  inSql('DELETE FROM notes WHERE id % 40 = $1'),
  inSql(`WITH gone AS (DELETE FROM notes WHERE id % 37 = $1 RETURNING 1), changed AS (UPDATE notes SET rating = 1 WHERE id % 37 = $1 + 1 RETURNING 1)
    INSERT INTO notes ${COLUMNS} SELECT gen_random_uuid(), 'with', 2, now(), now(), now() FROM gone`),
  inSql(`INSERT INTO notes (id, document_id, title, created_at, updated_at, published_at)
    SELECT id, document_id, title, now(), now(), now() FROM notes WHERE id % 20 = $1 % 20 ON CONFLICT (id) DO UPDATE SET title = notes.title || $1`),
  inSql('UPDATE shelves SET name = $1::text WHERE id % 3 = $1 % 3'),
  inSql('DELETE FROM notes_tags_links WHERE id % 30 = $1'),
  inSql("UPDATE posts SET title = 'sql ' || $1 WHERE id % 9 = $1 % 9"),
  inSql('DELETE FROM posts WHERE id % 40 = $1'),
  writer => (writer.random(40) === 0 ? sql(writer, 'TRUNCATE notes CASCADE') : undefined),
  writer =>
    writer.context.database
      .transaction(async transaction => {
        const change = (text: string) =>
          transaction.run({ text: text.replaceAll('$1', '$1::integer'), values: [writer.random(40)] })
        await change('UPDATE notes SET title = $1::text WHERE id % 10 = $1 % 10')
        await transaction.run({ text: 'SAVEPOINT half', values: [] })
        await change('UPDATE notes SET rating = $1 % 5 WHERE id % 10 = $1 % 10')
        if (writer.random(2) === 0) await transaction.run({ text: 'ROLLBACK TO half', values: [] })
        await change('UPDATE posts SET rating = $1 WHERE id % 10 = $1 % 10')
        if (writer.random(3) === 0) throw new Error('rolled back')
      })
      .catch((error: Error) => {
        if (error.message !== 'rolled back') throw error
      }),
  // The embedded PostgreSQL has no programs.
  writer =>
    testServer() === undefined
      ? undefined
      : sql(
          writer,
          `COPY notes ${COLUMNS} FROM PROGRAM 'echo copied-$RANDOM-$$,copied,3,2026-01-01,2026-01-01,2026-01-01' WITH (FORMAT csv)`,
        ),
]

const WRITES = [...API_WRITES, ...SQL_WRITES]

const graphql = (query: string): string => `/graphql?query=${encodeURIComponent(query)}`
const noCount = 'pagination[withCount]=false'

const READS: readonly ((writer: Writer) => string)[] = [
  noteOf,
  noteOf,
  writer => `${noteOf(writer)}?fields=title`,
  writer => `${noteOf(writer)}?populate=shelf,tags,seo`,
  writer => `${noteOf(writer)}?populate[shelf][populate]=notes`,
  postOf,
  writer => `${postOf(writer)}?status=draft`,
  writer => `${postOf(writer)}?locale=de`,
  ({ random }) => `/api/notes?sort=title&${noCount}&pagination[pageSize]=3&pagination[page]=${random(3) + 1}`,
  ({ random }) =>
    `/api/notes?sort=title&populate=shelf,tags&pagination[pageSize]=3&pagination[page]=${random(3) + 1}`,
  ({ random }) =>
    `/api/notes?sort=rating:desc,title&fields=title&${noCount}&pagination[start]=${random(4)}&pagination[limit]=2`,
  ({ random }) => `/api/notes?filters[rating]=${random(5)}&fields=title&${noCount}&pagination[pageSize]=4`,
  ({ random }) => `/api/notes?filters[rating][$gt]=${random(5)}&sort=documentId&pagination[pageSize]=2`,
  ({ random }) => `/api/notes?filters[shelf][name][$contains]=${random(9)}&fields=rating&${noCount}`,
  () => `/api/notes?filters[tags][name][$notNull]=true&fields=title&pagination[pageSize]=3`,
  () => `/api/notes?sort=shelf.name&fields=title&${noCount}&pagination[pageSize]=3`,
  () => '/api/notes?sort=title&pagination[after]=&pagination[pageSize]=3',
  ({ random }) =>
    `/api/posts?sort=title&pagination[pageSize]=3&status=${random(2) === 0 ? 'draft' : 'published'}`,
  () => `/api/posts?sort=rating&locale=*&fields=title&${noCount}`,
  () => `/api/shelves?populate[notes][fields]=title&populate[notes][filters][rating]=1&${noCount}`,
  () =>
    graphql(
      '{ notes(sort: "title", pagination: { limit: 3 }) { data { attributes { title weight meta } } } }',
    ),
  ({ random }) =>
    graphql(
      `{ notes(sort: "id", pagination: { start: ${random(3)}, limit: 2 }) { data { id attributes { rating } } meta { pagination { total } } } }`,
    ),
  writer =>
    graphql(
      `{ note(id: "${pick(writer, writer.notes)}") { data { attributes { body shelf { data { attributes { name } } } } } } }`,
    ),
]

const isCheck = (statement: string): boolean => statement === 'prove an answer'

/** Both caches answer as without a cache; else what they answer. Counts responses that were kept although something was written. */
async function compare(
  { plain, cached, second }: TwoCaches,
  path: string,
  kept: { count: number },
): Promise<string | null> {
  const right = await plain.ask('GET', path, { as: FULL })
  for (const site of [cached, second, cached]) {
    cached.statements()
    const found = await site.ask('GET', path, { as: FULL })
    const sent = cached.statements()
    if (sent.length > 1 && sent.every(isCheck)) kept.count++
    if (found.text !== right.text || found.status !== right.status)
      return `found ${found.text}\ninstead of ${right.text}`
  }
  return null
}

test(`no write of any kind leaves an outdated response, and some of them leave cached ones (seed ${SEED})`, async t => {
  const random = openRandom(SEED)
  const writer: Writer = { context: t.context, random, notes: [], posts: [], shelves: [], tags: [] }
  for (let number = 0; number < 3; number++) {
    await create(writer, '/api/shelves', writer.shelves, { name: `shelf ${number}` })
    await create(writer, '/api/tags', writer.tags, { name: `tag ${number}` })
    await create(writer, '/api/posts', writer.posts, { title: `post ${number}`, rating: number })
  }
  const fill = async () => {
    while (writer.notes.length < 10) await create(writer, '/api/notes', writer.notes, newNote(writer))
  }
  await fill()
  const paths = READS.map(read => read(writer))
  const kept = { count: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    await WRITES[random(WRITES.length)]?.(writer)
    await fill()
    paths[random(paths.length)] = READS[random(READS.length)]?.(writer) ?? ''
    for (const path of paths.filter(() => random(2) === 0)) {
      const wrong = await compare(t.context, path, kept)
      if (wrong) {
        t.fail(`round ${round}: ${path}\n${wrong}`)
        return
      }
    }
  }
  t.log(`${kept.count} responses that a write to their tables left as they were`)
  t.true(kept.count > ROUNDS / 20, `${kept.count} responses`)
})
