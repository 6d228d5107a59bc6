import anyTest, { type TestFn } from 'ava'
import { openRandom } from '../harness/random.ts'
import { ask, create, openTwoCaches, pick, type RandomWriter, sql, type TwoCaches } from './random-writer.ts'
import { FULL } from './two-apps.ts'

// Random writes, through the API and in SQL, and random reads of two caches, each compared with an answer without a cache.
// STALE_ROUNDS: writes, each followed by reads of both. STALE_SEED repeats a run.

const ROUNDS = Number(process.env.STALE_ROUNDS ?? 40)
const SEED = Number(process.env.STALE_SEED ?? Date.now() % 1_000_000)

const PROJECT = `
name: Random writes
server: { rateLimit: { api: false, auth: false } }
i18n: { locales: [en, de] }
components:
  shared.seo: { attributes: { title: string } }
contentTypes:
  author:
    attributes:
      name: string
      articles: { type: relation, relation: oneToMany, target: article, mappedBy: author }
  article:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, localized: true }
      rating: integer
      hour: time
      seo: { type: component, component: shared.seo, repeatable: false }
      author: { type: relation, relation: manyToOne, target: author, inversedBy: articles }
apiTokens: { full: { type: full-access, secret: ${FULL} } }
`

/** Its resolver reads an attribute that the request does not ask for. */
const EXTENSION = `
import { defineExtension } from 'plinth'
export default defineExtension({
  register({ graphql }) {
    graphql.use({
      typeDefs: 'extend type Article { label: String }',
      resolvers: { Article: { label: article => article.title + ' rated ' + article.rating } },
    })
  },
})
`

const test = anyTest as TestFn<TwoCaches>

test.before(async t => {
  t.context = await openTwoCaches(PROJECT, EXTENSION)
})

test.after.always(t => t.context.close())

interface Writer extends RandomWriter {
  /** The documentIds of articles and authors that were created; some are deleted by now. */
  readonly articles: string[]
  readonly authors: string[]
}

const WRITES: readonly ((writer: Writer) => Promise<unknown> | undefined)[] = [
  writer => create(writer, '/api/authors', writer.authors, { name: `author ${writer.random(9)}` }),
  writer => {
    const { random, authors } = writer
    const seo = { title: `seo ${random(9)}` }
    const data = { title: `title ${random(99)}`, rating: random(10), author: pick(writer, authors), seo }
    return create(writer, '/api/articles', writer.articles, authors.length > 0 ? data : { title: 'alone' })
  },
  writer => ask(writer, 'PUT', articleOf(writer), { rating: writer.random(10) }),
  writer =>
    ask(writer, 'PUT', `${articleOf(writer)}?status=draft`, { seo: { title: `draft ${writer.random(9)}` } }),
  writer => ask(writer, 'PUT', `${articleOf(writer)}?locale=de`, { title: `Titel ${writer.random(9)}` }),
  writer => ask(writer, 'PUT', articleOf(writer), { author: pick(writer, writer.authors) }),
  writer => ask(writer, 'DELETE', articleOf(writer)),
  writer => ask(writer, 'DELETE', `/api/authors/${pick(writer, writer.authors)}`),
  writer =>
    sql(writer, 'UPDATE articles SET rating = $1 WHERE rating = $2', writer.random(10), writer.random(10)),
  writer => sql(writer, 'UPDATE authors SET name = $1', `all ${writer.random(9)}`),
  writer => sql(writer, 'DELETE FROM articles WHERE rating = $1', writer.random(10)),
  writer =>
    sql(
      writer,
      `INSERT INTO authors (document_id, name, created_at, updated_at)
       SELECT 'bulk-${writer.random(1_000_000_000)}-' || number, 'bulk', now(), now() FROM generate_series(1, 3) AS number`,
    ),
  writer => (writer.random(10) === 0 ? sql(writer, 'TRUNCATE articles, authors CASCADE') : undefined),
]

const articleOf = (writer: Writer): string => `/api/articles/${pick(writer, writer.articles)}`

const READS: readonly ((writer: Writer) => string)[] = [
  writer => `${articleOf(writer)}?populate=*`,
  writer => `${articleOf(writer)}?status=draft`,
  ({ random }) =>
    `/api/articles?sort=title&populate=author,seo&pagination[pageSize]=3&pagination[page]=${random(3) + 1}`,
  ({ random }) => `/api/articles?filters[rating][$gte]=${random(10)}&sort=rating,documentId`,
  () => '/api/articles?filters[author][name][$contains]=all&sort=documentId&locale=*',
  () => '/api/authors?sort=name,documentId&populate=articles&pagination[pageSize]=5',
  ({ random }) =>
    custom(`(sort: ["title", "documentId"], pagination: { page: ${random(2) + 1}, pageSize: 3 })`, random),
  ({ random }) =>
    custom(`(filters: { rating: { gte: ${random(10)} } }, sort: "documentId", pagination: {})`, random),
]

/** A time is converted by code, so that the fields are resolved one by one. */
const custom = (words: string, random: Writer['random']): string =>
  `/graphql?query=${encodeURIComponent(`{ articles${words} { data { id attributes { ${random(2) === 0 ? 'label' : 'hour label'} author { data { attributes { articles { data { attributes { label } } } } } } } } meta { pagination { total } } } }`)}`

test(`no answer is older than the last write before its request (seed ${SEED})`, async t => {
  const { plain, cached, second } = t.context
  const writer: Writer = { context: t.context, random: openRandom(SEED), articles: [], authors: [] }
  const { random } = writer
  let compared = 0
  for (let round = 0; round < ROUNDS; round++) {
    await WRITES[random(WRITES.length)]?.(writer)
    for (let read = 0; read < 4; read++) {
      const path = READS[random(READS.length)]?.(writer) ?? ''
      const right = await plain.ask('GET', path, { as: FULL })
      for (const site of [cached, second, cached]) {
        const found = await site.ask('GET', path, { as: FULL })
        compared++
        if (found.text !== right.text || found.status !== right.status)
          t.is(found.text, right.text, `round ${round}: ${path}`)
      }
    }
  }
  t.is(compared, ROUNDS * 12)
})
