import test from 'ava'
import { compileStorage } from '../../core/model/compile-storage.ts'
import { quoteIdentifier } from '../../core/sql/identifier.ts'
import { numbersFrom } from '../end-to-end/fuzz.ts'
import { testServer } from '../harness/test-database.ts'
import { bodyOf, type Ids } from './bodies.ts'
import { conformanceProject } from './conformance-project.ts'
import { pick } from './random.ts'
import { type Document, FULL, openWorld, type World } from './world.ts'

// Safety rule S14 for writes: random bodies from a fixed seed cause no server error, and a refused one writes nothing.
const SEED = 20_261_121
/** On the embedded database, comparing every row after every write takes most of the time. */
const ROUNDS = testServer() ? 2_000 : 1_000

let world: World
let ids: Ids
const articles: string[] = []

test.before(async () => {
  world = await openWorld(conformanceProject(''))
  const { make } = world
  const named = async (list: string, name: string): Promise<Document> =>
    make('POST', `/api/${list}`, { name })
  const authors = [await named('authors', 'Ann'), await named('authors', 'Bob')]
  const categories = [
    await named('categories', 'One'),
    await named('categories', 'Two'),
    await named('categories', 'Three'),
  ]
  for (const title of ['First', 'Second', 'Third'])
    articles.push((await make('POST', '/api/articles', { title })).documentId)
  const names = (documents: readonly Document[]) =>
    documents.flatMap(({ id, documentId }) => [documentId, id])
  ids = { authors: names(authors), categories: names(categories), articles }
})
test.after.always(() => world?.close())

/** A sum over every row of every table of content. */
async function fingerprint(): Promise<string> {
  const { tables } = compileStorage(world.model)
  const sums = tables.map(
    ({ name }) =>
      `SELECT coalesce(sum(hashtextextended(t::text, 0)), 0) AS sum FROM ${quoteIdentifier(name)} t`,
  )
  const { rows } = await world.database.run({
    name: 'fingerprint',
    text: `SELECT sum(sum)::text FROM (${sums.join(' UNION ALL ')}) s`,
    values: [],
  })
  return String(rows[0]?.[0])
}

const WHERE = [
  '',
  '?status=draft',
  '?locale=fr',
  '?locale=fr&status=draft',
  '?populate=*',
  '?locale=xx',
  '?status=maybe',
] as const

test.serial('no body causes a server error, and a refused one is not written in part', async t => {
  const random = numbersFrom(SEED)
  const seen = new Map<number, number>()
  const failures: string[] = []
  let before = await fingerprint()
  for (let round = 0; round < ROUNDS; round++) {
    const target = pick(random, articles)
    const method = pick(random, ['POST', 'PUT', 'PUT', 'PUT'] as const)
    const path = `/api/articles${method === 'PUT' ? `/${target}` : ''}${pick(random, WHERE)}`
    const data = bodyOf(random, ids)
    const answer = await world.ask(method, path, { as: FULL, data })
    seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
    const reported = `${answer.status} ${method} ${path} ${JSON.stringify(data)}`
    if (![200, 201, 400].includes(answer.status)) failures.push(`${reported} ${answer.text}`)
    const after = await fingerprint()
    if (answer.status >= 400 && after !== before) failures.push(`left something: ${reported}`)
    before = after
    if (answer.status === 201 && random() < 0.8) {
      const { documentId } = JSON.parse(answer.text).data as Document
      await world.make('DELETE', `/api/articles/${documentId}`)
      before = await fingerprint()
    }
  }
  t.deepEqual(failures.slice(0, 5), [])
  for (const status of [200, 201, 400])
    t.true((seen.get(status) ?? 0) > ROUNDS / 40, `${JSON.stringify([...seen])}`)
})

test.serial('every document is consistent after all random writes', async t => {
  for (const id of articles) {
    for (const status of ['published', 'draft']) {
      const deep =
        'populate[blocks][populate]=*&populate[seo]=true&populate[links]=true&populate[related]=true&populate[author]=true'
      const { status: code } = await world.ask('GET', `/api/articles/${id}?status=${status}&${deep}`, {
        as: FULL,
      })
      t.is(code, 200)
    }
  }
})

/** Bodies that are too deep, too broad or too long for anything to be meant by them. */
const HUGE: Readonly<Record<string, () => unknown>> = {
  'many keys': () => Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key${at}`, at])),
  'many links': () => ({
    title: 'Many',
    categories: Array.from({ length: 20_000 }, (_, at) => `nothing${at}`),
  }),
  'many numbers': () => ({
    title: 'Many',
    categories: { connect: Array.from({ length: 20_000 }, (_, at) => at + 1e6) },
  }),
  'many places': () => ({
    title: 'Many',
    categories: {
      connect: Array.from({ length: 3_000 }, (_, at) => ({
        documentId: `n${at}`,
        position: { before: `n${at + 1}` },
      })),
    },
  }),
  'many bad components': () => ({ title: 'Many', links: Array.from({ length: 20_000 }, () => ({})) }),
  'many kinds of components': () => ({
    title: 'Many',
    blocks: Array.from({ length: 20_000 }, (_, at) => ({ __component: `x.${at}` })),
  }),
  'a long text': () => ({ title: 'x'.repeat(1_000_000) }),
  'a long address': () => ({ title: 'Long', contact: `${'a'.repeat(200_000)}@${'b.'.repeat(50_000)}c` }),
  'a long slug': () => ({ title: 'Long', slug: '-'.repeat(200_000) }),
  'a long number': () => ({ title: 'Long', views: '9'.repeat(200_000), price: '9'.repeat(200_000) }),
}

for (const [name, make] of Object.entries(HUGE)) {
  test.serial(`a body with ${name} is refused`, async t => {
    const before = await fingerprint()
    for (const [method, path] of [
      ['POST', '/api/articles'],
      ['PUT', `/api/articles/${articles[0]}`],
    ] as const) {
      const answer = await world.ask(method, path, { as: FULL, data: make() })
      t.is(answer.status, 400, answer.text.slice(0, 200))
    }
    t.is(await fingerprint(), before)
  })
}

for (const [name, text] of Object.entries({
  json: `{"title":"Deep","meta":${'{"a":['.repeat(50_000)}${']}'.repeat(50_000)}}`,
  'lists of nothing': `{"title":"Deep","nothing":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  components: `{"title":"Deep","blocks":${'[{"links":'.repeat(50_000)}[]${'}]'.repeat(50_000)}}`,
})) {
  test.serial(`a body with deeply nested ${name} is refused`, async t => {
    const answer = await world.ask('POST', '/api/articles', { as: FULL, body: `{"data":${text}}` })
    t.is(answer.status, 400, answer.text.slice(0, 200))
    t.regex(answer.text, /levels deep/)
  })
}
