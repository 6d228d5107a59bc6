import test, { type ExecutionContext } from 'ava'
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql'
import sharp from 'sharp'
import { surveyDocuments } from '../../core/graphql/limits/survey-documents.ts'
import type { TestApp } from '../../core/testing.ts'
import { openTestApp } from '../harness/test-app.ts'

// A large page of a page builder under the default limits, and documents that read too much.

const TOKEN = 'a-secret-of-forty-letters-that-no-client-guesses'

const component = (name: string, repeatable = false) => ({ type: 'component', component: name, repeatable })
const relation = (kind: string, target: string, inverse: object = {}) => ({
  ...{ type: 'relation', relation: kind, target, ...inverse },
})

const PROJECT = {
  components: {
    'part.link': {
      attributes: { label: 'string', url: 'string', article: relation('manyToOne', 'article') },
    },
    'part.card': {
      attributes: {
        title: 'string',
        text: 'text',
        image: { type: 'media' },
        link: component('part.link'),
      },
    },
    'block.cards': { attributes: { heading: 'string', cards: component('part.card', true) } },
    'block.text': { attributes: { text: 'richtext', author: relation('manyToOne', 'author') } },
    'block.gallery': { attributes: { images: { type: 'media', multiple: true } } },
  },
  contentTypes: {
    page: {
      attributes: {
        title: 'string',
        parent: relation('manyToOne', 'page'),
        blocks: { type: 'dynamiczone', components: ['block.cards', 'block.text', 'block.gallery'] },
      },
    },
    article: {
      attributes: {
        title: 'string',
        excerpt: 'text',
        cover: { type: 'media' },
        author: relation('manyToOne', 'author', { inversedBy: 'articles' }),
        related: relation('manyToMany', 'article'),
      },
    },
    author: {
      attributes: {
        name: 'string',
        avatar: { type: 'media' },
        articles: relation('oneToMany', 'article', { mappedBy: 'author' }),
      },
    },
  },
  apiTokens: { all: { type: 'full-access', secret: TOKEN } },
  graphql: { config: { v4CompatibilityMode: false } },
}

const PAGE = `
  query Page($id: ID!) {
    page(documentId: $id) {
      documentId title
      parent { documentId title parent { documentId title } }
      blocks {
        __typename
        ... on ComponentBlockCards { heading cards { id title text image { ...Image } link { ...Link } } }
        ... on ComponentBlockText { text author { ...Person } }
        ... on ComponentBlockGallery { images { ...Image } }
      }
    }
  }
  fragment Image on UploadFile { documentId url alternativeText width height mime formats }
  fragment Link on ComponentPartLink { label url article { ...Teaser related(pagination: { limit: 1 }) { ...Teaser author { ...Author } } } }
  fragment Teaser on Article { documentId title excerpt cover { ...Image } }
  fragment Person on Author { documentId name avatar { ...Image } }
  fragment Author on Author { ...Person articles(pagination: { limit: 1 }) { ...Teaser related(pagination: { limit: 1 }) { ...Teaser author { ...Deep } } } }
  fragment Deep on Author { ...Person articles(pagination: { limit: 1 }) { ...Teaser author { articles(pagination: { limit: 1 }) { related(pagination: { limit: 1 }) { author { ...Person } } } } } }
`

interface Site extends Pick<TestApp, 'app'> {
  readonly ann: string
  ask(query: string): Promise<Answer>
}

interface Answer {
  readonly status: number
  readonly bytes: number
  readonly data: Page
  readonly errors: readonly { readonly message: string; readonly extensions: { readonly code: string } }[]
}

interface Page {
  readonly page: {
    readonly blocks: readonly { readonly cards?: readonly { readonly link: unknown }[] }[]
  } | null
}

/** A page of 24 blocks: 12 with four cards each, 8 texts and 4 galleries. */
async function open(t: ExecutionContext): Promise<Site> {
  const { app, request } = await openTestApp(t, { project: PROJECT })
  const image = await upload(request)
  const create = async (uid: string, data: Record<string, unknown>) =>
    (await app.documents(uid).create({ data })).documentId
  const ann = await create('author', { name: 'Ann', avatar: image })
  const related = await create('article', { title: 'Related', excerpt: TEXT, cover: image, author: ann })
  const article = await create('article', {
    ...{ title: 'Article', excerpt: TEXT, cover: image, author: ann, related: [related] },
  })
  await app.documents('article').update({ documentId: related, data: { related: [article] } })
  const parent = await create('page', { title: 'Parent' })
  const link = { label: 'More', url: '/more', article }
  const card = { title: 'Card', text: TEXT, image, link }
  const blocks = [
    ...times(12, { __component: 'block.cards', heading: 'Cards', cards: times(4, card) }),
    ...times(8, { __component: 'block.text', text: TEXT.repeat(5), author: ann }),
    ...times(4, { __component: 'block.gallery', images: [image, image] }),
  ]
  const id = await create('page', { title: 'Home', parent, blocks })
  return {
    ...{ app, ann },
    async ask(query) {
      const body = { query, variables: { id } }
      const { status, body: answer } = await request('POST', '/graphql', { token: TOKEN, body })
      const { data, errors = [] } = answer as Pick<Answer, 'data'> & Partial<Answer>
      return { status, bytes: Buffer.byteLength(JSON.stringify(answer)), data, errors }
    },
  }
}

const TEXT = 'A sentence of ordinary length, as editors write them. '.repeat(3)

const times = <Value>(count: number, value: Value): readonly Value[] =>
  Array.from({ length: count }, () => value)

async function upload(request: TestApp['request']): Promise<number> {
  const png = await sharp({ create: { width: 600, height: 300, channels: 3, background: '#345' } })
    .png()
    .toBuffer()
  const form = new FormData()
  form.append('files', new Blob([new Uint8Array(png)], { type: 'image/png' }), 'cover.png')
  const { body } = await request('POST', '/api/upload', { token: TOKEN, body: form })
  return (body as readonly { id: number }[])[0]?.id ?? 0
}

test('a page of more than 165 KB, 14 to 20 levels deep, is answered under the default limits', async t => {
  const { ask } = await open(t)
  const { bytes, errors, data } = await ask(PAGE)
  t.deepEqual(errors, [])
  t.is(data.page?.blocks.length, 24)
  t.is(data.page?.blocks.flatMap(({ cards = [] }) => cards).filter(({ link }) => link).length, 48)
  t.true(bytes > 165_000, `${bytes} bytes`)
  const depth = depthOf(PAGE, (await ask(getIntrospectionQuery())).data)
  t.true(depth >= 14 && depth <= 20, `${depth} levels`)
})

/** The levels of a document, as `plinth doctor --documents` counts them. */
function depthOf(text: string, introspected: unknown): number {
  const schemas = [buildClientSchema(introspected as IntrospectionQuery)]
  const config = { depthLimit: 30, limits: { aliases: 500, rootFields: 100, tokens: 5000, time: 10_000 } }
  const { faults, needs } = surveyDocuments([{ file: 'page.graphql', text }], { schemas, config })
  if (faults[0]) throw new Error(faults[0].message)
  return needs.find(({ key }) => key === 'graphql.config.depthLimit')?.needed ?? 0
}

test('documents that read too much are stopped at the documented limits', async t => {
  const { app, ann, ask } = await open(t)
  const data = { title: 'Another', excerpt: TEXT, author: ann }
  for (let made = 0; made < 50; made++) await app.documents('article').create({ data })

  const list = 'articles(pagination: { limit: 100 })'
  const lists = await ask(
    `{ authors { ${list} { author { ${list} { author { ${list} { title excerpt } } } } } } }`,
  )
  t.is(lists.errors[0]?.extensions.code, 'BAD_USER_INPUT')
  t.regex(
    lists.errors[0]?.message ?? '',
    /database\.limits\.bytes .*`articles\.author\.articles\.author\.articles`/,
  )

  const deep = await ask(`{ authors { ${'articles { author { '.repeat(15)} name ${'} }'.repeat(15)} } }`)
  t.is(deep.status, 400)
  t.regex(deep.errors[0]?.message ?? '', /exceeds maximum operation depth of 30/)

  const pages = Array.from({ length: 101 }, (_, at) => `p${at}: pages { title }`)
  const wide = await ask(`{ ${pages.join(' ')} }`)
  t.is(wide.status, 400)
  t.regex(
    wide.errors[0]?.message ?? '',
    /101, and graphql\.config\.limits\.rootFields in project\.yaml allows 100/,
  )
  t.is((await ask('{ authors { name } }')).status, 200)
})
