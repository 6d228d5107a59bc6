import { readFileSync } from 'node:fs'
import anyTest, { type ExecutionContext, type TestFn } from 'ava'
import { type Asking, FULL, openTwoApps, type TwoApps } from './two-apps.ts'

const READER = 'reader-access-for-the-tests-of-the-cache'

const PROJECT = `
name: Cached
server: { rateLimit: { api: false, auth: false } }
i18n: { locales: [en, de] }
components:
  shared.seo: { attributes: { title: string, image: { type: media, multiple: false } } }
contentTypes:
  author:
    attributes:
      name: { type: string, required: true }
      articles: { type: relation, relation: oneToMany, target: article, mappedBy: author }
  tag:
    attributes:
      name: string
      articles: { type: relation, relation: manyToMany, target: article, mappedBy: tags }
  article:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, localized: true }
      secret: string
      rating: integer
      seo: { type: component, component: shared.seo, repeatable: false }
      author: { type: relation, relation: manyToOne, target: author, inversedBy: articles }
      tags: { type: relation, relation: manyToMany, target: tag, inversedBy: articles }
roles:
  public:
    permissions:
      article: { find: { fields: [title, rating] }, findOne: { fields: [title, rating] } }
apiTokens:
  full: { type: full-access, secret: ${FULL} }
  reader:
    type: custom
    secret: ${READER}
    permissions: { article: { find: { where: { rating: { $gte: 5 } } } } }
`

const test = anyTest as TestFn<TwoApps>

test.before(async t => {
  t.context = await openTwoApps(PROJECT)
})

test.after.always(t => t.context.close())

const POPULATE = 'populate[author]=true&populate[tags]=true&populate[seo][populate]=*'

const graphql = (query: string): string => `/graphql?query=${encodeURIComponent(query)}`

const READS: readonly (readonly [string, Asking])[] = [
  ['/api/articles?sort=title&locale=en', {}],
  [`/api/articles?sort=title&locale=*&status=draft&${POPULATE}`, { as: FULL }],
  ['/api/articles?sort=title', { as: READER }],
  ['/api/authors?sort=name&populate=articles', { as: FULL }],
  ['/api/tags?sort=name&populate[articles][count]=true', { as: FULL }],
  [
    graphql(
      '{ articles(sort: "title") { data { id attributes { title author { data { attributes { name } } } } } meta { pagination { total } } } }',
    ),
    { as: FULL },
  ],
]

/** Responses to repeated requests; the second one reads no rows. */
async function assertFresh(t: ExecutionContext<TwoApps>, what: string): Promise<void> {
  const { cached, plain } = t.context
  for (const [path, asking] of READS) {
    const right = await plain.ask('GET', path, asking)
    t.is(right.status, 200, right.text)
    for (const time of ['first', 'second']) {
      cached.statements()
      const reported = await cached.ask('GET', path, asking)
      t.is(reported.text, right.text, `${path} after ${what}, ${time} time`)
      t.is(reported.headers.etag, right.headers.etag)
      t.is(reported.headers['cache-control'], right.headers['cache-control'])
      if (time === 'second') t.deepEqual(cached.statements(), ['prove an answer'], `${path} after ${what}`)
    }
  }
}

test.serial(
  'every kind of write shows in the next response, and a repeated read costs one small statement',
  async t => {
    const { cached, plain, database } = t.context
    const sql = (text: string, ...values: unknown[]) => database.run({ text, values })
    // The first request is not cached yet.
    for (const [path, asking] of READS) await cached.ask('GET', path, asking)
    await assertFresh(t, 'nothing')
    const jane = await plain.data('POST', '/api/authors', { name: 'Jane' })
    const tag = await cached.data('POST', '/api/tags', { name: 'new' })
    await assertFresh(t, 'creating')
    const made = await plain.data('POST', '/api/articles', {
      title: 'A',
      rating: 7,
      seo: { title: 'S' },
      author: jane.documentId,
    })
    const path = `/api/articles/${made.documentId}`
    await assertFresh(t, 'creating with a link and a component')
    await plain.data('PUT', path, { title: 'B' })
    await assertFresh(t, 'an update')
    await plain.data('PUT', `${path}?status=draft`, { title: 'C', seo: { title: 'T' } })
    await assertFresh(t, 'a draft with another component')
    await plain.data('PUT', `${path}?locale=de`, { title: 'Deutsch' })
    await assertFresh(t, 'another locale')
    await cached.data('PUT', `/api/tags/${tag.documentId}`, { articles: [made.documentId] })
    await assertFresh(t, 'a link from the other side')
    await plain.data('PUT', `/api/authors/${jane.documentId}`, { name: 'Joan' })
    await assertFresh(t, 'an update of what is populated')
    await sql(
      `INSERT INTO plinth_files (document_id, name, url, hash, ext, mime, size, provider, created_at, updated_at)
     VALUES ('file-1', 'a.png', '/uploads/a.png', 'a', '.png', 'image/png', 1, 'local', now(), now())`,
    )
    await plain.data('PUT', path, { seo: { title: 'T', image: 1 } })
    await assertFresh(t, 'a file in a component')
    await sql(`UPDATE plinth_files SET name = 'b.png'`)
    await assertFresh(t, 'a statement from outside to a file')
    await plain.data('DELETE', `${path}?locale=de`)
    await assertFresh(t, 'deleting a locale')
    await sql(`DELETE FROM authors`)
    await assertFresh(t, 'deleting from outside')
    await plain.data('DELETE', path)
    await assertFresh(t, 'deleting')
    await plain.data('POST', '/api/articles', { title: 'D', rating: 9 })
    await assertFresh(t, 'creating again')
    await sql('TRUNCATE articles CASCADE')
    await assertFresh(t, 'truncating')
  },
)

test.serial('a caller with a matching ETag gets 304 after one small statement', async t => {
  const { cached, plain } = t.context
  const made = await plain.data('POST', '/api/articles', { title: 'Tagged' })
  for (const path of [`/api/articles/${made.documentId}`, '/api/articles?sort=title']) {
    await cached.ask('GET', path)
    const etag = String((await cached.ask('GET', path)).headers.etag)
    cached.statements()
    const again = await cached.ask('GET', path, { headers: { 'if-none-match': etag } })
    t.is(again.status, 304)
    t.is(again.text, '')
    t.deepEqual(cached.statements(), ['prove an answer'])
    await plain.data('PUT', `/api/articles/${made.documentId}`, { title: `${path} has changed` })
    const changed = await cached.ask('GET', path, { headers: { 'if-none-match': etag } })
    t.is(changed.status, 200)
    t.regex(changed.text, /has changed/)
  }
})

test.serial('callers with other fields or other rows never share a response', async t => {
  const { cached, plain } = t.context
  await plain.data('POST', '/api/articles', { title: 'Low', rating: 1, secret: 'hidden' })
  for (const round of ['first', 'second'])
    for (const asking of [{}, { as: READER }, { as: FULL }]) {
      const reported = await cached.ask('GET', '/api/articles?sort=title', asking)
      const right = await plain.ask('GET', '/api/articles?sort=title', asking)
      t.is(reported.text, right.text, `${round} time`)
      t.is(reported.text.includes('hidden'), 'as' in asking && asking.as === FULL)
      t.is(reported.headers['cache-control'], 'as' in asking ? 'private' : 'no-cache')
    }
})

test.serial('operations that differ in aliases are cached separately', async t => {
  const { cached, plain } = t.context
  const operations = [
    '{ tags { data { id } meta { pagination { total } } } }',
    '{ tags { meta { pagination { total } } data { id } } }',
    '{ tags { data { id } meta { pagination { n: total page } } } }',
    '{ tags { data { id } meta { pagination { n: page page: total } } } }',
    '{ tags { data { id } } }',
    '{ tags { data { id } __typename } }',
    '{ a: tags { data { id } } b: tags { data { id } } authors { data { id } } }',
    '{ tag(id: "none") { data { id } } }',
  ]
  for (const _ of ['first', 'second'])
    for (const operation of operations) {
      const reported = await cached.ask('GET', graphql(operation), { as: FULL })
      t.is(reported.status, 200)
      t.is(reported.text, (await plain.ask('GET', graphql(operation), { as: FULL })).text)
    }
})

test.serial('pages and formats of one list are cached separately', async t => {
  const { cached, plain } = t.context
  const forms = [
    'page]=1&pagination[pageSize]=2',
    'start]=0&pagination[limit]=2',
    'page]=2&pagination[pageSize]=2',
  ]
  for (const _ of ['first', 'second'])
    for (const form of [...forms, `${forms[0]}&pagination[withCount]=false`]) {
      const path = `/api/articles?pagination[${form}`
      t.is((await cached.ask('GET', path)).text, (await plain.ask('GET', path)).text)
    }
})

test.serial('the next page of a list does not count its total again', async t => {
  const { cached, database } = t.context
  const sql = (text: string) => database.run({ text, values: [] })
  const totalOf = async (page: number): Promise<number> => {
    const reported = await cached.ask('GET', `/api/articles?pagination[page]=${page}&pagination[pageSize]=1`)
    return JSON.parse(reported.text).meta.pagination.total
  }
  const before = await totalOf(1)
  t.true(before > 0)
  // Behind the back of the triggers: who counted would see it.
  await sql('ALTER TABLE articles DISABLE TRIGGER USER')
  await sql('DELETE FROM articles')
  await sql('ALTER TABLE articles ENABLE TRIGGER USER')
  t.is(await totalOf(2), before)
  const [, drop = ''] = /```sql\n(INSERT INTO plinth_versions[^;]*);/.exec(DOCS) ?? []
  await sql(drop)
  t.is(await totalOf(2), 0, 'the statement of the documentation drops what is kept')
})

const DOCS = readFileSync(new URL('../../docs/caching.md', import.meta.url), 'utf8')

test.serial(
  'a document with a filter that several locales meet has the first of them, cached or not',
  async t => {
    const { cached } = t.context
    const { documentId } = await cached.data('POST', '/api/articles', { title: 'English' })
    await cached.data('PUT', `/api/articles/${documentId}?locale=de`, { title: 'Deutsch' })
    for (const as of [FULL, READER, FULL, undefined])
      for (const filter of ['[$notNull]=true', '[$gte]=a', '[$in][0]=de&filters[locale][$in][1]=en']) {
        const asking = as === undefined ? {} : { as }
        const { status, text } = await cached.ask(
          'GET',
          `/api/articles/${documentId}?filters[locale]${filter}&fields=title`,
          asking,
        )
        if (as === READER) t.is(status, 403, text)
        else t.regex(text, /"title":"English"/)
      }
  },
)

test.serial('concurrent equal requests share one read', async t => {
  const { cached, plain } = t.context
  await plain.data('POST', '/api/articles', { title: 'At once' })
  cached.statements()
  const reported = await Promise.all(
    Array.from({ length: 20 }, () => cached.ask('GET', '/api/articles?sort=id')),
  )
  t.is(new Set(reported.map(({ text }) => text)).size, 1)
  const reads = cached.statements().filter(name => name !== 'prove an answer')
  t.is(reads.length, 1)
})

test.serial('a statement sent before a write does not answer later requests', async t => {
  const { cached, plain } = t.context
  const made = await plain.data('POST', '/api/articles', { title: 'Before' })
  const path = `/api/articles/${made.documentId}`
  for (let time = 0; time < 3; time++) await cached.ask('GET', path)
  for (const [what, late] of [
    ['a proof', path],
    ['a read', `${path}?fields=title`],
  ] as const) {
    const held = cached.hold()
    const first = cached.ask('GET', late)
    await held.answered
    await plain.data('PUT', path, { title: `After ${what}` })
    const second = cached.ask('GET', late)
    await new Promise(resolve => setImmediate(resolve))
    held.release()
    t.is((await first).status, 200)
    t.regex((await second).text, new RegExp(`After ${what}`))
  }
})

test.serial('an entry is not served after another process made it outdated', async t => {
  const { cached, plain, open } = t.context
  const made = await plain.data('POST', '/api/articles', { title: 'Unrated' })
  const path = `/api/articles/${made.documentId}`
  for (let time = 0; time < 3; time++) t.regex((await cached.ask('GET', path)).text, /"rating":null/)
  await open(PROJECT.replace('rating: integer', 'rating: integer\n      stars: integer'))
  t.regex((await cached.ask('GET', path)).text, /"rating":null/)
  await open(PROJECT.replace('rating: integer', 'rating: { type: integer, required: true, backfill: 3 }'))
  t.is((await cached.ask('GET', path)).status, 503)
})
