import { AuthHelper, axiosInstance, DataProvider } from '@refinedev/strapi-v4'
import {
  HTTPAuthorizationError,
  HTTPBadRequestError,
  HTTPForbiddenError,
  HTTPNotFoundError,
  strapi,
} from '@strapi/client'
import test, { type ExecutionContext } from 'ava'
import { stringify } from 'qs'
import { openTestApp } from '../harness/test-app.ts'

const TOKEN = 'a-secret-of-forty-letters-that-no-client-guesses'

const PROJECT = {
  i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },
  components: { 'page.quote': { attributes: { text: 'string' } } },
  contentTypes: {
    article: {
      draftAndPublish: true,
      localized: true,
      attributes: {
        title: { type: 'string', required: true, localized: true },
        rating: { type: 'integer', localized: false },
        author: { type: 'relation', relation: 'manyToOne', target: 'author', inversedBy: 'articles' },
        tags: { type: 'relation', relation: 'manyToMany', target: 'tag' },
        cover: { type: 'media' },
        blocks: { type: 'dynamiczone', components: ['page.quote'] },
      },
    },
    author: {
      attributes: {
        name: { type: 'string', required: true },
        articles: { type: 'relation', relation: 'oneToMany', target: 'article', mappedBy: 'author' },
      },
    },
    tag: { attributes: { name: 'string' } },
    homepage: { kind: 'single', localized: true, attributes: { title: { type: 'string', localized: true } } },
  },
  roles: {
    public: { permissions: { author: ['find'] } },
    authenticated: { permissions: { author: ['find', 'findOne'], users: ['me'], role: ['find'] } },
  },
  apiTokens: { all: { type: 'full-access', secret: TOKEN } },
}

/** Serves the project on a port of its own; returns the URL of its REST API. */
async function serve(t: ExecutionContext, settings: object = {}): Promise<string> {
  const app = await openTestApp(t, { project: { ...PROJECT, ...settings }, listen: true })
  return `${app.url}/api`
}

test('@strapi/client reads and writes a collection', async t => {
  const client = strapi({ baseURL: await serve(t), auth: TOKEN })
  const { data: ann } = await client.collection('authors').create({ name: 'Ann' })
  const articles = client.collection('articles')
  const { data: alps } = await articles.create(
    { title: 'Alps & "sea", 100 %', rating: 4, author: ann.documentId },
    { populate: 'author' },
  )
  t.like(alps, { title: 'Alps & "sea", 100 %', locale: 'en', author: { documentId: ann.documentId } })
  await articles.create({ title: 'Bees', blocks: [{ __component: 'page.quote', text: 'buzz' }] })
  await articles.create({ title: 'Draft' }, { status: 'draft' })

  const list = await articles.find({
    filters: { $or: [{ title: { $contains: '& "sea", 100 %' } }, { rating: { $null: true } }] },
    sort: ['title:desc'],
    fields: ['title'],
    populate: { author: { fields: ['name'] }, blocks: { on: { 'page.quote': true } } },
    pagination: { page: 1, pageSize: 1, withCount: true },
  })
  t.like(list.data[0], { title: 'Bees', author: null, blocks: [{ text: 'buzz' }] })
  t.deepEqual(list.meta.pagination, { page: 1, pageSize: 1, pageCount: 2, total: 2 })
  const named = await articles.find({ filters: { author: { name: { $in: ['Ann'] } } }, populate: ['author'] })
  t.deepEqual(
    named.data.map(({ title, author }) => [title, author.name]),
    [['Alps & "sea", 100 %', 'Ann']],
  )
  t.is((await articles.find({ status: 'draft' })).data.length, 3)
  const none = { filters: {}, sort: [] }
  t.is((await articles.find(none)).data.length, 2)
  t.is((await articles.find({ ...none, filters: { title: { $in: [] } } })).data.length, 0)
  const bare = await articles.find({ fields: [], pagination: { limit: 1 } })
  // Strapi refuses `populate: []` in the same way.
  await t.throwsAsync(articles.find({ populate: [] }), { instanceOf: HTTPBadRequestError })
  t.deepEqual(Object.keys(bare.data[0] ?? {}), ['id', 'documentId'])

  const id = alps.documentId
  t.like((await articles.update(id, { title: 'Alpes' }, { locale: 'fr' })).data, { locale: 'fr' })
  t.like((await articles.findOne(id, { locale: 'fr', populate: '*' })).data, { title: 'Alpes', rating: 4 })
  t.like((await articles.findOne(id)).data, { title: 'Alps & "sea", 100 %' })
  await articles.delete(id, { locale: 'fr' })
  await t.throwsAsync(articles.findOne(id, { locale: 'fr' }), { instanceOf: HTTPNotFoundError })
  await articles.delete(id)
  await t.throwsAsync(articles.findOne(id), { instanceOf: HTTPNotFoundError })
})

test('@strapi/client reads and writes a single type', async t => {
  const home = strapi({ baseURL: await serve(t), auth: TOKEN }).single('homepage')
  await t.throwsAsync(home.find(), { instanceOf: HTTPNotFoundError })
  t.is((await home.update({ title: 'Here' })).data.title, 'Here')
  await home.update({ title: 'Ici' }, { locale: 'fr' })
  t.is((await home.find({ fields: ['title'] })).data.title, 'Here')
  t.is((await home.find({ locale: 'fr' })).data.title, 'Ici')
  await home.delete()
  await t.throwsAsync(home.find(), { instanceOf: HTTPNotFoundError })
})

test('@strapi/client uploads, lists, changes and deletes files', async t => {
  const client = strapi({ baseURL: await serve(t), auth: TOKEN })
  const [one] = await client.files.upload(Buffer.from('hello'), {
    filename: 'Grüße.txt',
    mimetype: 'text/plain',
    fileInfo: { alternativeText: 'A greeting' },
  })
  t.like(one, { name: 'Grüße.txt', alternativeText: 'A greeting', mime: 'text/plain' })
  const [other] = await client.files.upload(new File(['bye'], 'bye.txt', { type: 'text/plain' }))
  if (!one || !other) return t.fail()
  const cover = await client
    .collection('articles')
    .create({ title: 'A', cover: one.id }, { populate: 'cover' })
  t.is(cover.data.cover.documentId, one.documentId)

  const found = await client.files.find({ filters: { name: { $contains: 'bye' } }, sort: ['name:asc'] })
  t.deepEqual(
    found.map(({ id }) => id),
    [other.id],
  )
  t.is((await client.files.findOne(one.id)).name, 'Grüße.txt')
  const changed = await client.files.update(one.id, { name: 'hello.txt', caption: 'Hello' })
  t.like(changed, { id: one.id, name: 'hello.txt', caption: 'Hello', alternativeText: 'A greeting' })
  t.like(await client.files.delete(one.id), { id: one.id, name: 'hello.txt' })
  const gone = await t.throwsAsync(client.files.findOne(one.id))
  t.is(gone?.name, 'FileNotFoundError')
})

test('@strapi/client receives errors, user tokens and all users', async t => {
  const baseURL = await serve(t)
  const admin = strapi({ baseURL, auth: TOKEN })
  const refused = await t.throwsAsync(admin.collection('articles').create({ rating: 1 }), {
    instanceOf: HTTPBadRequestError,
  })
  const { error } = (await refused.response.json()) as { error: object }
  t.like(error, { status: 400, name: 'ValidationError', details: { errors: [{ path: ['title'] }] } })
  await t.throwsAsync(admin.collection('articles').find({ filters: { nope: 1 } }), {
    instanceOf: HTTPBadRequestError,
  })
  await t.throwsAsync(admin.collection('nothing').find(), { instanceOf: HTTPNotFoundError })
  const visitor = strapi({ baseURL })
  await t.throwsAsync(visitor.collection('articles').find(), { instanceOf: HTTPForbiddenError })
  await t.throwsAsync(visitor.files.find(), { name: 'FileForbiddenError' })
  await t.throwsAsync(strapi({ baseURL, auth: 'wrong' }).collection('authors').find(), {
    instanceOf: HTTPAuthorizationError,
  })

  const users = admin.collection('users')
  const account = { username: 'ann', email: 'ann@example.org', password: 'correct horse' }
  const created = (await users.create({ ...account, role: 'authenticated' })) as unknown as { id: number }
  t.like(await users.find({ filters: { username: 'ann' } }), [{ username: 'ann' }] as object)
  const changed: object = await users.update(String(created.id), { username: 'anne' })
  t.like(changed, { username: 'anne' })
  const login = await visitor.fetch('/auth/local', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ identifier: 'anne', password: account.password }),
  })
  const { jwt } = (await login.json()) as { jwt: string }
  const ann = strapi({ baseURL, auth: jwt, headers: { 'X-Request-ID': 'one' } })
  const me = (await (await ann.fetch('/users/me')).json()) as object
  t.like(me, { username: 'anne' })
  t.is((await ann.collection('authors').find()).data.length, 0)
  await users.delete(String(created.id))
  await t.throwsAsync(ann.collection('authors').find(), { instanceOf: HTTPAuthorizationError })
})

test('@refinedev/strapi-v4 works with rest.responseFormat: v4', async t => {
  const url = await serve(t, { rest: { responseFormat: 'v4' } })
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const provider = DataProvider(url, axiosInstance.create({ headers }))
  const author = await provider.create({ resource: 'authors', variables: { name: 'Ann' } })
  const ann = author.data.data.id
  const titles = ['Alps', 'Bees', 'Cats & dogs', 'Dogs']
  const { data: created } = await provider.createMany({
    resource: 'articles',
    variables: titles.map((title, rating) => ({ title, rating, author: ann })),
  })
  const ids: readonly number[] = created.map(({ data }) => data.id)

  const list = await provider.getList({
    resource: 'articles',
    pagination: { currentPage: 2, pageSize: 1 },
    filters: [
      { field: 'author.name', operator: 'eq', value: 'Ann' },
      {
        operator: 'or',
        value: [
          { field: 'title', operator: 'contains', value: 'DOGS' },
          { field: 'rating', operator: 'between', value: [0, 1] },
        ],
      },
      { field: 'title', operator: 'nin', value: ['Bees'] },
    ],
    sorters: [
      { field: 'title', order: 'asc' },
      { field: 'id', order: 'desc' },
    ],
    meta: { fields: ['title'], populate: ['author'], locale: 'en', publicationState: 'live' },
  })
  t.is(list.total, 3)
  t.like(list.data, [{ id: ids[2], title: 'Cats & dogs', author: { id: ann, name: 'Ann' } }])
  const everything = await provider.getList({ resource: 'articles', pagination: { mode: 'off' } })
  t.is(everything.data.length, 4)
  const many = await provider.getMany({ resource: 'articles', ids: [ids[3] ?? 0, ids[0] ?? 0] })
  t.deepEqual(
    many.data.map(({ id }) => Number(id)).sort((a, b) => a - b),
    [ids[0], ids[3]],
  )

  const [id = 0, ...others] = ids
  const changed = await provider.update({
    resource: 'articles',
    id,
    variables: { title: 'Alpes', rating: null },
  })
  t.like(changed.data.data, { id, attributes: { title: 'Alpes', rating: null } })
  const one = await provider.getOne({
    resource: 'articles',
    id,
    meta: { populate: { author: { fields: ['name'] }, tags: '*', blocks: { populate: '*' } } },
  })
  t.like(one.data, { id, title: 'Alpes', author: { name: 'Ann' }, tags: [], blocks: [] })
  const saved = await provider.update({ resource: 'articles', id, variables: { ...one.data, author: ann } })
  t.is(saved.data.data.attributes.title, 'Alpes')
  await provider.updateMany({ resource: 'articles', ids: others, variables: { rating: 5 } })
  const five = await provider.getList({
    resource: 'articles',
    filters: [{ field: 'rating', operator: 'gte', value: 5 }],
  })
  t.is(five.total, 3)

  const french = await provider.create({
    resource: 'articles',
    variables: { title: 'Abeilles', locale: 'fr' },
  })
  const inFrench = await provider.getList({ resource: 'articles', meta: { locale: 'fr' } })
  t.deepEqual(
    inFrench.data.map(each => [each.id, each.title]),
    [[french.data.data.id, 'Abeilles']],
  )
  t.is((await provider.getList({ resource: 'articles', meta: { locale: 'all' } })).total, 5)
  t.is((await provider.deleteOne({ resource: 'articles', id })).data.data.attributes.title, 'Alpes')
  await provider.deleteMany({ resource: 'articles', ids: [...others] })
  t.is((await provider.getList({ resource: 'articles' })).data.length, 0)
})

test('@refinedev/strapi-v4 receives attribute errors, and signs users in', async t => {
  const url = await serve(t, { rest: { responseFormat: 'v4' } })
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const provider = DataProvider(url, axiosInstance.create({ headers }))
  const refused = await provider
    .create({ resource: 'articles', variables: { rating: 1 } })
    .catch((error: unknown) => error)
  const message = 'title must be a `string` type, but the final value was: `null`.'
  t.deepEqual(refused, {
    statusCode: 400,
    message,
    errors: { title: [message] },
  })
  const account = {
    username: 'ann',
    email: 'ann@example.org',
    password: 'correct horse',
    role: 'authenticated',
  }
  await provider.create({ resource: 'users', variables: account })
  const auth = AuthHelper(url)
  const { data } = await auth.login('ann', account.password)
  t.like((await auth.me(data.jwt, { meta: { populate: 'role' } })).data, {
    username: 'ann',
    role: { name: 'Authenticated' },
  })
})

/** What front-ends write with qs, and plugins for Next, Nuxt and Gatsby. */
const QUERIES = [
  { populate: '*' },
  { populate: ['author', 'cover', 'blocks'] },
  { populate: { author: { populate: '*' } } },
  { populate: { author: { populate: true } } },
  { populate: { author: { fields: ['name'], populate: { articles: { fields: '*' } } }, cover: true } },
  { populate: { author: { fields: '*' }, tags: { sort: ['name:asc'], filters: { name: { $ne: 'x' } } } } },
  { populate: { blocks: { on: { 'page.quote': { populate: '*' } } } } },
  { populate: { blocks: { populate: '*' } } },
  { populate: 'author.articles,tags' },
  { populate: ['author.articles', 'tags'] },
  { populate: { localizations: { fields: ['title', 'locale'] } } },
  { sort: 'title:asc,rating:DESC' },
  { sort: ['author.name:asc', 'title'] },
  { sort: { author: { name: 'asc' } } },
  { sort: [{ title: 'desc' }, { id: 'asc' }] },
  {
    filters: { $and: [{ title: { $contains: 'a' } }, { $or: [{ rating: 1 }, { rating: { $null: true } }] }] },
  },
  { filters: { author: { id: { $in: [1, 2] } }, tags: { name: { $in: ['a'] } } } },
  { filters: { author: 1, title: { $notNull: true }, publishedAt: { $lte: '2100-01-01T00:00:00.000Z' } } },
  { filters: { title: { $containsi: '' } }, pagination: { start: 0, limit: 5 } },
  {
    filters: { $not: { title: { $startsWith: 'x' } } },
    pagination: { page: 1, pageSize: 250, withCount: false },
  },
  { fields: ['title', 'createdAt'], locale: 'en' },
  { fields: 'title,rating', locale: 'fr', _q: 'a' },
] as const

for (const responseFormat of ['v4', 'v5'] as const)
  test(`queries that front-ends write with qs are accepted, in the format ${responseFormat}`, async t => {
    const app = await openTestApp(t, { project: { ...PROJECT, rest: { responseFormat } } })
    const ask = (path: string, body?: object) =>
      app.request(body ? 'POST' : 'GET', `/api/${path}`, { token: TOKEN, ...(body && { body }) })
    await ask('authors', { data: { name: 'Ann' } })
    await ask('articles', { data: { title: 'Alps', author: 1 } })
    for (const query of QUERIES)
      for (const options of [{}, { encodeValuesOnly: true }, { arrayFormat: 'brackets' as const }]) {
        const text = stringify(query, options)
        const { status, body } = await ask(`articles?${text}`)
        t.is(status, 200, `${text} ${JSON.stringify(body)}`)
      }
  })

test('a user uploads their picture with the ref of Strapi, and no one else does', async t => {
  const app = await openTestApp(t, {
    project: {
      ...PROJECT,
      user: {
        attributes: { avatar: { type: 'media' }, papers: { type: 'media', multiple: true, private: true } },
      },
      roles: {
        authenticated: {
          permissions: {
            users: { me: true, update: { where: { id: '$user.id' }, fields: ['avatar'] } },
            upload: ['upload'],
          },
        },
      },
    },
  })
  const people = await Promise.all(
    ['ann', 'ben'].map(async username => {
      const body = { username, email: `${username}@example.org`, password: 'Secret-1' }
      return (await app.request('POST', '/api/auth/local/register', { body })).body as {
        jwt: string
        user: { id: number }
      }
    }),
  )
  const [ann, ben] = people
  const send = async (refId: number | undefined, field = 'avatar') => {
    const form = new FormData()
    form.set('files', new File(['a'], 'ann.txt'))
    form.set('ref', 'plugin::users-permissions.user')
    form.set('refId', String(refId))
    form.set('field', field)
    return app.request('POST', '/api/upload', { body: form, token: ann?.jwt ?? '' })
  }
  t.is((await send(ann?.user.id)).status, 201)
  const me = await app.request('GET', '/api/users/me?populate=avatar', { token: ann?.jwt ?? '' })
  t.like(me.body, { username: 'ann', avatar: { name: 'ann.txt' } })
  t.is((await send(ben?.user.id)).status, 400)
  t.is((await send(ann?.user.id, 'papers')).status, 400)
  t.is((await send(ann?.user.id, 'password')).status, 400)
  const files = await app.request('GET', '/api/upload/files', { token: TOKEN })
  t.is((files.body as unknown[]).length, 1)
})
