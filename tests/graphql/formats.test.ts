import test from 'ava'
import { openTestApp } from '../harness/test-app.ts'
import { folderOf, load } from './loading.ts'

const PROJECT = `name: formats
contentTypes:
  book: { attributes: { title: { type: string, required: true } } }
roles:
  public: { permissions: { book: [find, findOne, create] } }
graphql:
  endpoints: { /graphql: nested, /graphql5: flat }
  config: { trustedDocuments: { folder: documents } }
resolversConfig:
  Query.books: { auth: false }
  Query.books_connection: { auth: false }
`

const EXTENSION = `register({ graphql }) {
  graphql.use(({ format, app }) => ({
    typeDefs: format === 'flat' ? 'type Query { newest: Book all: [Book!] }' : 'type Query { newest: BookEntityResponse }',
    resolvers: { Query: {
      newest: () => app.documents('api::book.book').findFirst({ sort: 'title:desc' }),
      ...(format === 'flat' && { all: () => app.documents('api::book.book').findMany({ sort: 'title' }) }),
    } },
    resolversConfig: { 'Query.newest': { auth: false }, ...(format === 'flat' && { 'Query.all': { auth: false } }) },
  }))
}`

const FILES = {
  'project.yaml': PROJECT,
  'extensions/newest.ts': EXTENSION,
  'documents/nested.graphql': '{ books { data { attributes { title } } } }',
  'documents/flat.graphql': '{ books { title } }',
}

test('two endpoints return the same documents, each in its format, with extensions and trusted documents', async t => {
  const app = await openTestApp(t, { project: folderOf(t, FILES) })
  const ask = async (path: string, body: unknown) => (await app.request('POST', path, { body })).body
  const nested = (query: string) => ask('/graphql', { query })
  const flat = (query: string) => ask('/graphql5', { query })
  await flat('mutation { createBook(data: { title: "A" }) { title } }')
  await nested('mutation { createBook(data: { title: "B" }) { data { id } } }')
  t.deepEqual(await flat('{ books(sort: "title") { title } books_connection { pageInfo { total } } }'), {
    data: { books: [{ title: 'A' }, { title: 'B' }], books_connection: { pageInfo: { total: 2 } } },
  })
  t.deepEqual(await nested('{ newest { data { attributes { title } } } }'), {
    data: { newest: { data: { attributes: { title: 'B' } } } },
  })
  t.deepEqual(await flat('{ newest { __typename title } all { t: title } }'), {
    data: { newest: { __typename: 'Book', title: 'B' }, all: [{ t: 'A' }, { t: 'B' }] },
  })
  t.deepEqual(await ask('/graphql5', { documentId: 'flat' }), {
    data: { books: [{ title: 'A' }, { title: 'B' }] },
  })
  t.deepEqual(await ask('/graphql', { documentId: 'nested' }), {
    data: { books: { data: [{ attributes: { title: 'A' } }, { attributes: { title: 'B' } }] } },
  })
  const { status } = await app.request('POST', '/graphql5', { body: [{ query: '{ __typename }' }] })
  t.is(status, 400)
})

test('settings that contradict the endpoints, and fields of no format, prevent the start', async t => {
  const contradicting = PROJECT.replace('config: {', 'config: { endpoint: /other,')
  t.is(
    await load(t, { ...FILES, 'project.yaml': contradicting }),
    '`/other` is not a path of `graphql.endpoints`',
  )
  const unknown = PROJECT.replace('Query.books_connection', 'Query.boks_connection')
  t.regex(String(await load(t, { ...FILES, 'project.yaml': unknown })), /Query\.boks_connection/)
})
