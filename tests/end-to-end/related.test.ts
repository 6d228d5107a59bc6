import test, { type ExecutionContext } from 'ava'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { type Server, startServer } from '../harness/server.ts'

// reference/rest.md#15-upload: `related` of a file has the documents and components that the file is used in.

const PROJECT = `
name: Related
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1390}" }
database: { url: "\${DATABASE_URL:-embedded}" }
i18n: { locales: [en, fr] }
graphql: { enabled: true, endpoints: { /graphql: nested, /graphql5: flat } }
components:
  part.frame: { attributes: { label: string, picture: { type: media, multiple: false } } }
  part.card: { attributes: { heading: string, frame: { type: component, component: part.frame }, images: { type: media, multiple: true } } }
contentTypes:
  post:
    draftAndPublish: true
    attributes:
      title: string
      secret: { type: string, private: true }
      author: { type: relation, relation: manyToOne, target: author, inversedBy: posts }
      cover: { type: media, multiple: false }
      extras: { type: media, multiple: true }
      frame: { type: component, component: part.frame }
      blocks: { type: dynamiczone, components: [part.card, part.frame] }
  author:
    attributes:
      name: string
      avatar: { type: media, multiple: false }
      passport: { type: media, multiple: false, private: true }
      posts: { type: relation, relation: oneToMany, target: post, mappedBy: author }
  page:
    localized: true
    attributes: { title: string, shared: { type: media, multiple: true, localized: false }, own: { type: media, multiple: false } }
apiTokens:
  full: { type: full-access, secret: full-related-token-0000000000000000000 }
  open:
    type: custom
    secret: open-related-token-0000000000000000000
    permissions:
      upload: [find, findOne]
      post: { find: { where: { title: { $startsWith: Open } } }, findOne: true }
  drafter:
    type: custom
    secret: drafter-related-token-00000000000000000
    permissions: { upload: [find, findOne], post: { find: true, findOne: true, readDrafts: { where: { title: { $startsWith: Open } } } } }
  partly:
    type: custom
    secret: partly-related-token-00000000000000000
    permissions: { upload: [find, findOne], post: { find: { fields: [title, extras, blocks] } } }
auth: { jwtSecret: related-jwt-secret-related-jwt-secret-0 }
`

type Token = 'full' | 'open' | 'drafter' | 'partly'
type Body = Readonly<Record<string, unknown>>
type Entry = { readonly [key: string]: unknown; readonly related: readonly Entry[] }

let folder: Folder
let server: Server
let file: Entry

async function call(method: string, path: string, body?: unknown, token: Token = 'full') {
  const isForm = body instanceof FormData
  const answer = await fetch(server.base + path, {
    method,
    headers: {
      authorization: `Bearer ${new RegExp(`${token}-related-token-0+`).exec(PROJECT)?.[0]}`,
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  })
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}

const create = async (path: string, data: Body) => (await call('POST', path, { data })).body.data

async function read(t: ExecutionContext, path: string, token: Token = 'full') {
  const { status, body } = await call('GET', path, undefined, token)
  t.is(status, 200, JSON.stringify(body))
  return body
}

test.before(async () => {
  folder = temporaryFolder()
  folder.write('project.yaml', PROJECT)
  server = await startServer({ project: folder.path })
  const form = new FormData()
  for (const name of ['unused.txt', 'used.txt']) form.append('files', new Blob([name]), name)
  const files: readonly Entry[] = (await call('POST', '/api/upload', form)).body
  const used = files.find(({ name }) => name === 'used.txt')
  if (!used) throw new Error('the file was not stored')
  file = used
  const { id } = file
  const { documentId } = await create('/api/authors', { name: 'Ann', avatar: id, passport: id })
  const frame = { label: 'own', picture: id }
  const blocks = [
    { __component: 'part.card', heading: 'card', frame: { label: 'inner', picture: id }, images: [id] },
  ]
  const secret = 'never'
  await create('/api/posts', {
    title: 'Open',
    secret,
    author: documentId,
    cover: id,
    extras: [id],
    frame,
    blocks,
  })
  await create('/api/posts', { title: 'Closed', cover: id, frame })
  await create('/api/posts?status=draft', { title: 'Open draft', cover: id, frame })
  await create('/api/posts?status=draft', { title: 'Closed draft', cover: id })
  const page = await create('/api/pages', { title: 'Page', shared: [id], own: id })
  await call('PUT', `/api/pages/${page.documentId}?locale=fr`, { data: { title: 'Feuille' } })
})
test.after.always(async () => {
  await server?.stop()
  folder?.remove()
})

const WORDS = ['title', 'name', 'heading', 'label']

/** `post Open`: the type and the first text of each entry. */
const entries = (related: readonly Entry[]): readonly string[] =>
  related.map(entry => `${entry.__type} ${WORDS.map(word => entry[word]).find(Boolean)}`)

const related = async (t: ExecutionContext, query: string, token: Token = 'full') =>
  entries((await read(t, `/api/upload/files/${file.id}?${query}`, token)).related)

const POST = 'api::post.post'
const PUBLISHED = [`${POST} Open`, `${POST} Closed`, `${POST} Open`, 'api::author.author Ann']
const PAGES = ['api::page.page Page', 'api::page.page Feuille', 'api::page.page Page']

test.serial('a file lists the published documents that use it, once for each attribute', async t => {
  t.deepEqual(await related(t, 'populate=related'), [...PUBLISHED, ...PAGES])
  t.deepEqual(await related(t, 'populate=*'), [...PUBLISHED, ...PAGES])
  const list = await read(t, '/api/upload/files?populate=related&sort=name')
  t.deepEqual(
    list.map((each: Entry) => entries(each.related)),
    [[], [...PUBLISHED, ...PAGES]],
  )
  const [first] = list[1].related
  t.is(first.secret, undefined)
  t.is(first.cover, undefined)
})

test.serial('related finds every media attribute, at any depth', async t => {
  const path = `/api/posts?filters[title]=Open&fields=title&populate`
  const whole = [...PUBLISHED, ...PAGES]
  for (const query of [
    `${path}[cover][populate]=related`,
    `${path}[cover][populate][related]=true`,
    `${path}[cover][populate]=*`,
    `${path}=cover.related`,
  ]) {
    const [post] = (await read(t, query)).data
    t.deepEqual(entries(post.cover.related), whole, query)
  }
  const [post] = (await read(t, `${path}[frame][populate][picture][populate]=related`)).data
  t.deepEqual(entries(post.frame.picture.related), whole)
  const [{ author }] = (await read(t, `${path}[author][populate][avatar][populate]=related`)).data
  t.deepEqual(entries(author.avatar.related), whole)
  const listed = (await read(t, `${path}[extras][populate]=related`)).data[0].extras
  t.deepEqual(entries(listed[0].related), whole)
})

test.serial('fragments select the types, the components and their nested populate', async t => {
  const on = (uid: string, options: string) => `populate[related][on][${uid}]${options}`
  const query = `${on(POST, '[fields]=title')}&${on(POST, '[populate][author][fields]=name')}`
  const [first] = (await read(t, `/api/upload/files/${file.id}?${query}`)).related
  t.deepEqual(Object.keys(first).toSorted(), ['__type', 'author', 'documentId', 'id', 'title'])
  t.is(first.author.name, 'Ann')
  t.deepEqual(await related(t, on('part.frame', '[fields]=label')), [
    'part.frame own',
    'part.frame own',
    'part.frame inner',
  ])
  t.deepEqual(await related(t, on('part.card', '=true')), ['part.card card'])
  t.deepEqual(await related(t, `${on(POST, '[filters][title]=Closed')}`), [`${POST} Closed`])
  const star = await read(t, `/api/upload/files/${file.id}?populate[related][populate]=*`)
  t.is(star.related[0].author.name, 'Ann')
  t.is(star.related[0].cover.name, 'used.txt')
  const { related: counted } = await read(t, `/api/upload/files/${file.id}?populate[related][count]=true`)
  t.deepEqual(counted, { count: PUBLISHED.length + PAGES.length })
})

test.serial('unknown names in related are refused with their path', async t => {
  for (const query of [
    'populate[related][fields]=title',
    'populate[related][sort]=id',
    'populate[related][on][api::nothing.nothing]=true',
    'populate=related.nothing',
    'filters[related][id]=1',
    'sort=related.id',
    'fields=related',
  ]) {
    const { status, body } = await call('GET', `/api/upload/files?${query}`)
    t.is(status, 400, query)
    t.regex(body.error.message, /related|nothing/, query)
  }
})

test.serial('related contains only documents that `find` allows, also for components in them', async t => {
  t.deepEqual(await related(t, 'populate=related', 'open'), [`${POST} Open`, `${POST} Open`])
  const on = 'populate[related][on][part.frame]=true&populate[related][on][part.card]=true'
  t.deepEqual(await related(t, on, 'open'), ['part.frame own', 'part.frame inner', 'part.card card'])
  const path = '/api/posts?filters[title]=Open&populate[cover][populate][related][count]=true'
  t.is((await read(t, path, 'open')).data[0].cover.related.count, 2)
})

test.serial('an attribute that the caller may not read does not show its document', async t => {
  t.deepEqual(await related(t, 'populate=related', 'partly'), [`${POST} Open`])
  const on = 'populate[related][on][part.frame]=true&populate[related][on][part.card]=true'
  t.deepEqual(await related(t, on, 'partly'), ['part.frame inner', 'part.card card'])
})

test.serial('related contains drafts only with status=draft, for a caller who may read them', async t => {
  const draft = `populate=related&status=draft`
  t.deepEqual(await related(t, 'populate=related', 'drafter'), PUBLISHED.slice(0, 3))
  const seen = [`${POST} Open`, `${POST} Open draft`, `${POST} Open`]
  t.deepEqual(await related(t, draft, 'drafter'), seen)
  t.deepEqual(await related(t, draft, 'open'), [`${POST} Open`, `${POST} Open`])
  const on = 'populate[related][on][part.frame]=true&status=draft'
  t.is((await related(t, on, 'drafter')).length, 3)
  t.is((await related(t, on, 'open')).length, 2)
  const path = '/api/posts?filters[title]=Open&status=draft&populate[cover][populate]=related'
  t.deepEqual(entries((await read(t, path, 'drafter')).data[0].cover.related), seen)
})

test.serial('in the format of Strapi 4 the entries stay flat', async t => {
  const answer = await fetch(
    `${server.base}/api/posts?filters[title]=Open&populate[cover][populate]=related`,
    {
      headers: {
        authorization: 'Bearer full-related-token-0000000000000000000',
        'Strapi-Response-Format': 'v4',
      },
    },
  )
  const { data } = (await answer.json()) as { data: { attributes: Body }[] }
  const cover = data[0]?.attributes.cover as { data: { attributes: Entry } }
  t.deepEqual(entries(cover.data.attributes.related), [...PUBLISHED, ...PAGES])
})

async function ask(t: ExecutionContext, path: string, query: string, token: Token = 'full') {
  const { body } = await call('POST', path, { query }, token)
  t.is(body.errors, undefined, JSON.stringify(body.errors))
  return body.data
}

const FRAGMENTS = `__typename ... on Post { title } ... on Author { name } ... on Page { title }`

const typed = (found: readonly Entry[]) =>
  found.map(({ __typename, title, name, label }) => `${__typename} ${title ?? name ?? label}`)

const TYPED = [
  'Post Open',
  'Post Closed',
  'Post Open',
  'Author Ann',
  'Page Page',
  'Page Feuille',
  'Page Page',
]

test.serial('GraphQL returns related as a union of all types, in both formats', async t => {
  const flat = await ask(t, '/graphql5', `{ uploadFiles(sort: "name") { name related { ${FRAGMENTS} } } }`)
  t.deepEqual(
    flat.uploadFiles.map((each: Entry) => typed(each.related)),
    [[], TYPED],
  )
  const inner = `related { ${FRAGMENTS} ... on Post { author { name posts { title cover { name } } } } }`
  const deep = await ask(
    t,
    '/graphql5',
    `{ posts(filters: { title: { eq: "Open" } }) { cover { ${inner} } } }`,
  )
  t.deepEqual(deep.posts[0].cover.related[0], {
    __typename: 'Post',
    title: 'Open',
    author: { name: 'Ann', posts: [{ title: 'Open', cover: { name: 'used.txt' } }] },
  })
  const nested = await ask(
    t,
    '/graphql',
    `{ uploadFiles(sort: "name") { data { attributes { related { ${FRAGMENTS}
      ... on Post { author { data { id attributes { name } } } c: cover { data { attributes { name } } } } } } } } }`,
  )
  const [, { attributes }] = nested.uploadFiles.data
  t.deepEqual(typed(attributes.related), TYPED)
  t.is(attributes.related[0].author.data.attributes.name, 'Ann')
  t.is(attributes.related[0].c.data.attributes.name, 'used.txt')
})

test.serial(
  'GraphQL returns components that a fragment selects, within the caller’s permissions',
  async t => {
    const query = `{ uploadFiles(sort: "name") { related { __typename
    ... on ComponentPartFrame { label } ... on Post { title } } } }`
    const frames = async (token: Token) =>
      typed((await ask(t, '/graphql5', query, token)).uploadFiles[1].related).filter(
        each => !/^P|^A/.test(each),
      )
    t.deepEqual(await frames('full'), [
      'ComponentPartFrame own',
      'ComponentPartFrame own',
      'ComponentPartFrame inner',
    ])
    t.deepEqual(await frames('open'), ['ComponentPartFrame own', 'ComponentPartFrame inner'])
    const posts = `{ uploadFiles(sort: "name") { related { ... on Post { title } } } }`
    const seen = await ask(t, '/graphql5', posts, 'open')
    t.deepEqual(seen.uploadFiles[1].related, [{ title: 'Open' }, { title: 'Open' }])
  },
)

test.serial('GraphQL shows drafts in related under status DRAFT, to callers who may read drafts', async t => {
  const query = `{ posts(status: DRAFT, filters: { title: { eq: "Open" } }) { cover { related { ... on Post { title } } } } }`
  const titles = async (token: Token) =>
    (await ask(t, '/graphql5', query, token)).posts[0].cover.related.map(({ title }: Entry) => title)
  t.deepEqual(await titles('drafter'), ['Open', 'Open draft', 'Open'])
  t.true((await titles('full')).includes('Closed draft'))
})

/** Every dotted chain of so many media attributes. */
const chains = (steps: number): readonly string[] =>
  steps === 0
    ? ['author']
    : chains(steps - 1).flatMap(rest => [`cover.related.${rest}`, `extras.related.${rest}`])

const chainFields = (steps: number): string =>
  steps === 0
    ? 'title'
    : ['cover', 'extras']
        .map(name => `${name} { related { ... on Post { ${chainFields(steps - 1)} } } }`)
        .join(' ')

test.serial('chains of related are limited, because each step multiplies the statement', async t => {
  t.is((await call('GET', `/api/posts?populate=${chains(2).join()}`)).status, 200)
  const refused = await call('GET', `/api/posts?populate=${chains(4).join()}`)
  t.is(refused.status, 400)
  t.regex(refused.body.error.message, /related may lead to at most 500/)
  const ask = async (steps: number) =>
    (await call('POST', '/graphql5', { query: `{ posts { ${chainFields(steps)} } }` })).body
  t.is((await ask(2)).errors, undefined)
  t.regex((await ask(4)).errors[0].message, /related may lead to at most 500/)
})
