import test, { type ExecutionContext } from 'ava'
import { openTestApp } from '../harness/test-app.ts'

const TOKEN = 'a-secret-of-forty-letters-that-no-client-guesses'

const PROJECT = {
  graphql: { config: { entityId: 'record' } },
  i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },
  contentTypes: {
    article: {
      draftAndPublish: true,
      localized: true,
      attributes: {
        title: { type: 'string', localized: true },
        author: { type: 'relation', relation: 'manyToOne', target: 'author' },
      },
    },
    author: { attributes: { name: 'string', secret: 'boolean' } },
  },
  roles: {
    public: {
      permissions: { author: { find: { where: { secret: false } }, findOne: { where: { secret: false } } } },
    },
  },
  apiTokens: { all: { type: 'full-access', secret: TOKEN } },
}

interface Entity {
  readonly id: string
  readonly attributes: Readonly<Record<string, unknown>>
}

type Answer = Readonly<Record<string, { readonly data: Entity & readonly Entity[] } | null>>

async function openSite(t: ExecutionContext) {
  const app = await openTestApp(t, { project: PROJECT })
  return async (
    query: string,
    variables: Record<string, unknown> = {},
    token: string | undefined = TOKEN,
  ) => {
    const { data, errors } = await app.graphql(query, variables, token === '' ? {} : { token })
    return { data: (data ?? {}) as Answer, errors: errors ?? [] }
  }
}

const CREATE = `mutation ($data: ArticleInput!) { createArticle(data: $data) { data { id attributes { locale } } } }`
const LOCALIZE = `mutation ($id: ID!) { createArticleLocalization(id: $id, locale: "fr", data: { title: "un" }) { data { id } } }`

test('each locale of a document has its own id, which reads, filters and mutations accept', async t => {
  const send = await openSite(t)
  const english = (await send(CREATE, { data: { title: 'one', publishedAt: '2026-01-01T00:00:00.000Z' } }))
    .data.createArticle?.data
  t.regex(english?.id ?? '', /^\d+$/)
  await send(LOCALIZE, { id: english?.id })
  const all = await send(
    '{ articles(locale: "all", publicationState: PREVIEW, sort: "title") { data { id attributes { title } } } }',
  )
  const [one, un] = all.data.articles?.data ?? []
  t.is(one?.id, english?.id)
  t.not(un?.id, one?.id)
  const read = await send(
    'query ($id: ID!) { article(id: $id) { data { id attributes { title localizations { data { id } } } } } }',
    { id: one?.id },
  )
  t.like(read.data.article?.data, { id: one?.id, attributes: { title: 'one' } })
  const found = await send(
    'query ($id: ID) { articles(filters: { id: { eq: $id } }) { data { id attributes { title } } } }',
    { id: one?.id },
  )
  t.deepEqual(
    found.data.articles?.data.map(({ id }) => id),
    [one?.id],
  )
  const changed = await send(
    'mutation ($id: ID!) { updateArticle(id: $id, data: { title: "changed" }) { data { id attributes { title } } } }',
    { id: one?.id },
  )
  t.like(changed.data.updateArticle?.data, { id: one?.id, attributes: { title: 'changed' } })
  const removed = await send('mutation ($id: ID!) { deleteArticle(id: $id) { data { id } } }', {
    id: one?.id,
  })
  t.is(removed.data.deleteArticle?.data.id, one?.id)
})

test('linked documents are written, filtered and shown by the same ids', async t => {
  const send = await openSite(t)
  const author = (await send('mutation { createAuthor(data: { name: "Ann" }) { data { id } } }')).data
    .createAuthor?.data
  await send(CREATE, { data: { title: 'one', author: author?.id, publishedAt: '2026-01-01T00:00:00.000Z' } })
  const { data, errors } = await send(
    'query ($id: ID) { articles(filters: { author: { id: { in: [$id] } } }) { data { attributes { author { data { id attributes { name } } } } } } }',
    { id: author?.id },
  )
  t.deepEqual(errors, [])
  t.deepEqual(data.articles?.data[0]?.attributes.author, {
    data: { id: author?.id, attributes: { name: 'Ann' } },
  })
})

test('a hidden record answers like one that does not exist', async t => {
  const send = await openSite(t)
  const create =
    'mutation ($secret: Boolean) { createAuthor(data: { name: "Ann", secret: $secret }) { data { id } } }'
  const hidden = (await send(create, { secret: true })).data.createAuthor?.data
  const open = (await send(create, { secret: false })).data.createAuthor?.data
  const read = async (id: string | undefined) =>
    send(
      'query ($id: ID!) { author(id: $id) { data { id } } authors(filters: { id: { eq: $id } }) { data { id } } }',
      { id },
      '',
    )
  t.deepEqual(await read(hidden?.id), await read('999999'))
  t.is((await read(open?.id)).data.author?.data.id, open?.id)
  for (const id of ['2147483648', '9999999999', '99999999999999999999'])
    t.like((await read(id)).data.author, { data: null }, id)
  const { data, errors } = await read('no number')
  t.like(data.author, { data: null })
  t.is(errors.length, 1)
})
