import type { Server } from '../../harness/server.ts'

const TOKEN = 'scale-token-scale-token-scale-token-scale'

export type Send = (method: string, path: string, data?: unknown, token?: string | null) => Promise<Answer>

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  readonly body: any
}

const LONGEST = 20_000

export const sender =
  (server: Pick<Server, 'base'>): Send =>
  async (method, path, data, token = TOKEN) => {
    const answer = await fetch(server.base + path, {
      method,
      signal: AbortSignal.timeout(LONGEST),
      headers: {
        ...(data === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(data === undefined ? {} : { body: JSON.stringify(data) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
  }

/** A request, made often enough that PostgreSQL settles on a plan for its statements. `at`: how often it was made before. */
export interface Request {
  readonly name: string
  run(send: Send, at: number): Promise<Answer>
}

const get = (name: string, path: string): Request => ({ name, run: send => send('GET', `/api/${path}`) })

const graphql = (name: string, query: (at: number) => string): Request => ({
  name,
  run: (send, at) => send('POST', '/graphql', { query: query(at) }),
})

const write = (
  name: string,
  method: string,
  path: (at: number) => string,
  data?: (at: number) => unknown,
): Request => ({
  name,
  run: (send, at) => send(method, `/api/${path(at)}`, data && { data: data(at) }),
})

/** Documents in the middle of their tables. */
const ID = 5000

const READS: readonly Request[] = [
  get('one', `articles/articles${ID}`),
  get('one, all relations', `articles/articles${ID}?populate=*`),
  get('one page in a locale', `pages/pages${ID}?locale=fr&populate=*`),
  get('list without total', 'articles?pagination[withCount]=false'),
  get('list of drafts without total', 'articles?status=draft&pagination[withCount]=false'),
  get('list, all relations', 'articles?pagination[withCount]=false&populate=*'),
  get('list by cursor', 'articles?pagination[after]=&pagination[withCount]=false'),
  get('list of a locale', 'pages?pagination[withCount]=false&locale=fr'),
  get('newest', 'articles?sort=createdAt:desc&pagination[withCount]=false'),
  get('newest published', 'articles?sort=publishedAt:desc&pagination[withCount]=false'),
  get('newest of a plain type', 'notes?sort=createdAt:desc&pagination[withCount]=false'),
  get('by slug', `articles?filters[slug]=article-${ID}`),
  get('by slug of a draft', `articles?filters[slug]=article-${ID}&status=draft`),
  get('by slug in a locale', `pages?filters[slug]=page-${ID}&locale=fr`),
  get('by several slugs', `articles?filters[slug][$in][0]=article-1&filters[slug][$in][1]=article-${ID}`),
  get('by documentId', `articles?filters[documentId]=articles${ID}`),
  get(
    'by documentIds',
    `articles?filters[documentId][$in][0]=articles1&filters[documentId][$in][1]=articles${ID}`,
  ),
  get('by id', `notes?filters[id]=${ID}`),
  get('by a unique attribute', `notes?filters[code]=code-${ID}`),
  get('by an indexed attribute', 'articles?filters[rating]=17&pagination[withCount]=false'),
  get(
    'by a range of an indexed attribute',
    'articles?filters[rating][$gte]=998&sort=rating&pagination[withCount]=false',
  ),
  get('count by an indexed attribute', 'articles?filters[rating]=17&pagination[pageSize]=1'),
  get(
    'by author and day, indexed',
    'articles?filters[author][id]=17&filters[day][$gt]=2020-01-01&sort=day&pagination[withCount]=false',
  ),
  get('by the documentId of the author', `articles?filters[author][documentId]=authors${ID}`),
  get('by the name of the author', `articles?filters[author][name]=author ${ID}`),
  get(
    'drafts by the documentId of the author',
    `articles?filters[author][documentId]=authors${ID}&status=draft`,
  ),
  get('authors by an article', `authors?filters[articles][documentId]=articles${ID}`),
  get('authors by the slug of an article', `authors?filters[articles][slug]=article-${ID}`),
  get('by the slug of a category', `articles?filters[categories][slug]=category-${ID}`),
  get('by the documentId of a category', `articles?filters[categories][documentId]=categories${ID}`),
  get(
    'by the slug of a long category',
    `articles?filters[categories][slug]=category-1&pagination[withCount]=false`,
  ),
  get('by the slug of a long category, with total', `articles?filters[categories][slug]=category-1`),
  get('categories by an article', `categories?filters[articles][documentId]=articles${ID}`),
  get('notes by an article', `notes?filters[article][documentId]=articles${ID}`),
  get('notes by the slug of a draft', `notes?filters[article][slug]=article-${ID}&status=draft`),
  get('notes by a list of articles', `notes?filters[articles][documentId]=articles${ID}`),
  get('articles by a note', `articles?filters[notes][code]=code-${ID}`),
  get('children of a page', `pages?filters[parent][documentId]=pages${ID}&locale=en`),
  get('parent of a page', `pages?filters[children][documentId]=pages${ID}&locale=en`),
  get('total of a list', 'articles?pagination[pageSize]=1'),
  get('by an attribute without index', 'articles?filters[title]=none&pagination[withCount]=false'),
  get('search', 'articles?_q=absent&pagination[withCount]=false'),
  get('by the title of a component', `articles?filters[seo][title]=seo ${ID}`),
  get('a long category, counted', 'categories/categories1?populate[articles][count]=true'),
  get(
    'modified documents',
    'articles?status=draft&publicationFilter=modified&pagination[withCount]=false&pagination[pageSize]=1',
  ),
  get(
    'unmodified documents',
    'articles?status=draft&publicationFilter=unmodified&pagination[withCount]=false',
  ),
  get(
    'never published documents',
    'articles?status=draft&publicationFilter=never-published&pagination[withCount]=false&pagination[pageSize]=1',
  ),
  get(
    'published documents',
    'articles?status=draft&publicationFilter=has-published-version&pagination[withCount]=false',
  ),
  get('files', 'upload/files?pagination[pageSize]=5&pagination[page]=1'),
  get('a file', `upload/files/${ID}`),
  get('a file with what it is used in', `upload/files/${ID}?populate=related`),
  get('components that a file is used in', `upload/files/${ID}?populate[related][on][shared.seo]=true`),
  get('files with what they are used in', 'upload/files?limit=5&populate=related&status=draft'),
  get('a user', `users/${ID}`),
  get('users, with their roles', 'users?populate=role&pagination[pageSize]=5'),
  get('count of users', 'users/count'),
  get('roles', 'users-permissions/roles'),
  get('locales', 'i18n/locales'),
  get('users by mail address', `users?filters[email]=user${ID}@example.com`),
  graphql(
    'GraphQL one',
    () =>
      `{ article(id: "articles${ID}") { data { id attributes { title author { data { attributes { name } } } } } } }`,
  ),
  graphql(
    'GraphQL by slug',
    () =>
      `{ articles(filters: { slug: { eq: "article-${ID}" } }) { data { id } meta { pagination { total } } } }`,
  ),
  graphql(
    'GraphQL nested list',
    () =>
      `{ categories(filters: { slug: { eq: "category-1" } }) { data { attributes { articles(pagination: { limit: 10 }) { data { id attributes { title author { data { id } } } } } } } } }`,
  ),
  graphql(
    'GraphQL by relation',
    () => `{ articles(filters: { categories: { slug: { eq: "category-${ID}" } } }) { data { id } } }`,
  ),
]

const WRITES: readonly Request[] = [
  write(
    'create',
    'POST',
    () => 'articles',
    at => ({ title: `new ${at}` }),
  ),
  write(
    'create a draft with links',
    'POST',
    () => 'articles?status=draft',
    at => ({
      title: `new draft ${at}`,
      author: `authors${ID + at}`,
      categories: [`categories${ID + at}`, 'categories1'],
      cover: ID + at,
      seo: { title: 'seo', image: ID + at },
      blocks: [{ __component: 'shared.quote', text: 'a', note: `notes${ID + at}` }],
    }),
  ),
  write(
    'create with a taken unique value',
    'POST',
    () => 'notes',
    () => ({ code: `code-${ID}` }),
  ),
  write(
    'create in a locale',
    'POST',
    () => 'pages?locale=fr',
    at => ({ title: `neu ${at}`, parent: `pages${ID}` }),
  ),
  write(
    'change',
    'PUT',
    at => `articles/articles${ID + at}`,
    at => ({ rating: at }),
  ),
  write(
    'change a draft',
    'PUT',
    at => `articles/articles${ID + at}?status=draft`,
    at => ({ rating: at + 1 }),
  ),
  write(
    'change a slug',
    'PUT',
    at => `articles/articles${ID + at}`,
    at => ({ slug: `slug-${at}` }),
  ),
  write(
    'change a locale',
    'PUT',
    at => `pages/pages${ID + at}?locale=fr`,
    at => ({ weight: at }),
  ),
  write(
    'add a locale',
    'PUT',
    at => `pages/pages${ID + at}?locale=en`,
    at => ({ title: `other ${at}` }),
  ),
  write(
    'change a unique value',
    'PUT',
    at => `notes/notes${ID + at}`,
    at => ({ code: `other-${at}` }),
  ),
  write(
    'link to an author by documentId',
    'PUT',
    at => `articles/articles${ID + at}`,
    at => ({ author: `authors${900 + at}` }),
  ),
  write(
    'link to categories',
    'PUT',
    at => `articles/articles${ID + at}`,
    at => ({ categories: { connect: [`categories${900 + at}`] } }),
  ),
  write(
    'link to a long category',
    'PUT',
    at => `articles/articles${20_000 + at}`,
    () => ({ categories: { connect: ['categories1'] } }),
  ),
  write(
    'link from an author',
    'PUT',
    at => `authors/authors${90_000 + at}`,
    at => ({ articles: { connect: [`articles${300 + at}`] } }),
  ),
  write(
    'unlink from an author',
    'PUT',
    at => `authors/authors${90_000 + at}`,
    at => ({ articles: { disconnect: [`articles${300 + at}`] } }),
  ),
  write(
    'link from a category',
    'PUT',
    at => `categories/categories${90_000 + at}`,
    at => ({ articles: { connect: [`articles${300 + at}`] } }),
  ),
  write(
    'link from a long category',
    'PUT',
    () => 'categories/categories1',
    at => ({ articles: { connect: [`articles${30_000 + at}`] } }),
  ),
  write(
    'link from an article to notes',
    'PUT',
    at => `articles/articles${300 + at}`,
    at => ({ notes: { connect: [`notes${400 + at}`] } }),
  ),
  write(
    'link one to one',
    'PUT',
    at => `profiles/profiles${500 + at}`,
    at => ({ author: `authors${700 + at}` }),
  ),
  write('delete an article', 'DELETE', at => `articles/articles${60_000 + at}`),
  write('delete a locale', 'DELETE', at => `pages/pages${20_000 + at}?locale=fr`),
  write('delete an author', 'DELETE', at => `authors/authors${200 + at}`),
  write('delete a category', 'DELETE', at => `categories/categories${200 + at}`),
  write('delete a note', 'DELETE', at => `notes/notes${200 + at}`),
  write('delete a page', 'DELETE', at => `pages/pages${300 + at}`),
  graphql(
    'GraphQL publish',
    at =>
      `mutation { updateArticle(id: "articles${70_000 + at}", data: { rating: 3, publishedAt: "2024-01-01T00:00:00.000Z" }) { data { id } } }`,
  ),
  graphql(
    'GraphQL unpublish',
    at =>
      `mutation { updateArticle(id: "articles${70_000 + at}", data: { publishedAt: null }) { data { id } } }`,
  ),
  graphql('GraphQL delete', at => `mutation { deleteArticle(id: "articles${70_100 + at}") { data { id } } }`),
  { name: 'delete a file', run: (send, at) => send('DELETE', `/api/upload/files/${80_000 + at}`) },
]

/** A value in the form of a mailed code, with a long lifetime. */
const WRONG_CODE = `${'0'.repeat(64)}zzzzzzzz`

const anyone = (name: string, path: string, data: (at: number) => unknown): Request => ({
  name,
  run: (send, at) => send('POST', `/api/auth/${path}`, data(at), null),
})

const USERS: readonly Request[] = [
  anyone('register', 'local/register', at => ({
    username: `new${at}`,
    email: `new${at}@example.com`,
    password: 'secret-secret',
  })),
  anyone('register a taken name', 'local/register', () => ({
    username: 'user7',
    email: 'x@example.com',
    password: 'secret-secret',
  })),
  anyone('sign in by name', 'local', () => ({ identifier: 'new1', password: 'secret-secret' })),
  anyone('sign in by mail address', 'local', () => ({
    identifier: 'new1@example.com',
    password: 'secret-secret',
  })),
  anyone('sign-in of an unknown user', 'local', () => ({ identifier: 'unknown', password: 'secret-secret' })),
  anyone('reset a password with a wrong code', 'reset-password', () => ({
    code: WRONG_CODE,
    password: 'secret-secret',
    passwordConfirmation: 'secret-secret',
  })),
  anyone('ask for a code', 'forgot-password', () => ({ email: 'user9@example.com' })),
  anyone('ask for a confirmation', 'send-email-confirmation', () => ({ email: 'user9@example.com' })),
  {
    name: 'confirm with a wrong code',
    run: send => send('GET', `/api/auth/email-confirmation?confirmation=${WRONG_CODE}`, undefined, null),
  },
  {
    name: 'who am I',
    async run(send) {
      const { body } = await send(
        'POST',
        '/api/auth/local',
        { identifier: 'new1', password: 'secret-secret' },
        null,
      )
      return send('GET', '/api/users/me', undefined, body.jwt)
    },
  },
  {
    name: 'change a user',
    run: (send, at) => send('PUT', `/api/users/${700 + at}`, { username: `changed${at}` }),
  },
  { name: 'delete a user', run: (send, at) => send('DELETE', `/api/users/${800 + at}`) },
]

export const REQUESTS: readonly Request[] = [...READS, ...WRITES, ...USERS]
