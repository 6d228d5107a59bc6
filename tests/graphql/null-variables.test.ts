import test from 'ava'
import type { TestApp } from '../../core/testing.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'

// A variable with a default may be used where null is not allowed. Its value may still be null, which only execution would
// notice: after other mutations, or after the mutation whose answer selects the field.

const PROJECT = {
  name: 'Nulls',
  graphql: { endpoints: { '/graphql': 'nested', '/flat': 'flat' } },
  components: { 'shared.note': { attributes: { text: 'string' } } },
  contentTypes: {
    post: {
      attributes: {
        title: 'string',
        extra: 'json',
        blocks: { type: 'dynamiczone', components: ['shared.note'] },
      },
    },
  },
  roles: {
    public: { permissions: { post: ['find', 'findOne', 'create', 'update'], auth: ['login', 'register'] } },
  },
  auth: { register: { role: 'public' } },
}

const EXTENSION = `import { defineExtension } from 'plinth'
export default defineExtension({
  register({ graphql }) {
    graphql.use({
      typeDefs: \`
        directive @times(n: Int!) on FIELD | FRAGMENT_SPREAD
        input Shape { size: Int!, sides: [Int!], inner: Shape }
        extend type Post { repeat(times: Int! = 1, shape: Shape, many: [Int!]): String }
        extend type UsersPermissionsMe { repeat(times: Int!): String }
        extend type Query { sum(of: [[Int!]!]): String }
        interface Named { name(long: Boolean!): String }
        type Plain implements Named { name(long: Boolean!): String }
        extend type Query { named: Named }
      \`,
      resolvers: {
        Post: { repeat: () => 'repeated' },
        UsersPermissionsMe: { repeat: () => 'repeated' },
        Query: { sum: () => 'sum', named: () => ({ __typename: 'Plain', name: 'a name' }) },
      },
      resolversConfig: { 'Query.sum': { auth: false }, 'Query.named': { auth: false } },
    })
  },
})`

const file = teardownOfFile(test.after.always)
const folder = temporaryFolder()
file.teardown(folder.remove)
let api: TestApp
test.before(async () => {
  folder.write('project.yaml', JSON.stringify(PROJECT))
  folder.write('extensions/more.ts', EXTENSION)
  api = await openTestApp(file, { project: folder.path })
})

interface Refused {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
  readonly message: string
  readonly path?: string
}

const nested = (below: string) => `createPost(data: { title: "x" }) { ${below} }`
const nullHere = (variable: string, place: string, type: string) =>
  `Variable "$${variable}" must not be null: ${place} expects a value of type ${type}.`

const REFUSED: Readonly<Record<string, Refused>> = {
  'below a mutation': {
    query:
      'mutation ($n: Int = 1) { register(input: { username: "ann", email: "ann@nulls.test", password: "Ann-Password1" }) { user { repeat(times: $n) } } }',
    message: nullHere('n', 'the argument times of UsersPermissionsMe.repeat', 'Int!'),
  },
  'at the second root field': {
    query: `mutation ($n: ID = "1") { ${nested('data { id }')} updatePost(id: $n, data: {}) { data { id } } }`,
    message: nullHere('n', 'the argument id of Mutation.updatePost', 'ID!'),
  },
  'a position with a default': {
    query: `mutation ($n: Int) { ${nested('data { attributes { repeat(times: $n) } }')} }`,
    message: nullHere('n', 'the argument times of Post.repeat', 'Int!'),
  },
  'a field of an input with a default': {
    query: `mutation ($n: String) { ${nested('data { id }')} login(input: { identifier: "a", password: "b", provider: $n }) { jwt } }`,
    message: nullHere('n', 'the field provider of UsersPermissionsLoginInput', 'String!'),
  },
  'a whole input': {
    query: `mutation ($n: PostInput = { title: "y" }) { ${nested('data { id }')} b: createPost(data: $n) { data { id } } }`,
    message: nullHere('n', 'the argument data of Mutation.createPost', 'PostInput!'),
  },
  'an entry of a list': {
    query: `mutation ($n: PostBlocksDynamicZoneInput = { __typename: "ComponentSharedNote" }) { ${nested('data { id }')} b: createPost(data: { blocks: [{ __typename: "ComponentSharedNote" }, $n] }) { data { id } } }`,
    message: nullHere('n', 'the field blocks of PostInput', 'PostBlocksDynamicZoneInput!'),
  },
  'a list of lists': {
    query: 'query ($n: Int = 1) { sum(of: [[1], [1, $n]]) }',
    message: nullHere('n', 'the argument of of Query.sum', 'Int!'),
  },
  'a single value for a list of lists': {
    query: 'query ($n: [Int!] = [1]) { sum(of: [[1], $n]) }',
    message: nullHere('n', 'the argument of of Query.sum', '[Int!]!'),
  },
  'an input in an input': {
    query: `mutation ($n: Int = 1) { ${nested('data { attributes { repeat(times: 1, shape: { size: 1, inner: { size: 1, sides: [$n] } }) } }')} }`,
    message: nullHere('n', 'the field sides of Shape', 'Int!'),
  },
  '@skip of a field': {
    query: `mutation ($n: Boolean = true) { ${nested('data { id @skip(if: $n) }')} }`,
    message: nullHere('n', 'the argument if of @skip', 'Boolean!'),
  },
  '@include of a fragment': {
    query: `mutation ($n: Boolean = true) { ${nested('data { ...F @include(if: $n) }')} } fragment F on PostEntity { id }`,
    message: nullHere('n', 'the argument if of @include', 'Boolean!'),
  },
  'a directive of an extension': {
    query: `mutation ($n: Int = 1) { ${nested('data { id @times(n: $n) }')} }`,
    message: nullHere('n', 'the argument n of @times', 'Int!'),
  },
  'a fragment in a fragment': {
    query: `mutation ($n: Int = 1) { ${nested('...A ...A')} } fragment A on PostEntityResponse { data { ...B } } fragment B on PostEntity { ... on PostEntity { attributes { repeat(times: $n) } } }`,
    message: nullHere('n', 'the argument times of Post.repeat', 'Int!'),
  },
  'a field of an interface': {
    query: 'query ($n: Boolean = true) { named { name(long: $n) } }',
    message: nullHere('n', 'the argument long of Named.name', 'Boolean!'),
  },
  introspection: {
    query: 'query ($n: String = "Post") { __typename __type(name: $n) { name } }',
    message: nullHere('n', 'the argument name of Query.__type', 'String!'),
  },
  'the flat format': {
    path: '/flat',
    query: 'mutation ($n: Int = 1) { createPost(data: { title: "x" }) { documentId repeat(times: $n) } }',
    message: nullHere('n', 'the argument times of Post.repeat', 'Int!'),
  },
}

const ask = (path: string, query: string, variables: Readonly<Record<string, unknown>>) =>
  api.request('POST', path, { body: { query, variables } })

const written = async () => ({
  posts: await api.app.documents('post').count(),
  users: await api.app.documents('plugin::users-permissions.user').count(),
})

for (const [name, { query, message, path = '/graphql' }] of Object.entries(REFUSED))
  test.serial(`null in a non-null position is refused before execution: ${name}`, async t => {
    const before = await written()
    const { status, body } = await ask(path, query, { n: null })
    t.is(status, 400, JSON.stringify(body))
    t.like(body, { errors: [{ message, extensions: { code: 'BAD_USER_INPUT' } }] })
    t.false(Object.hasOwn(Object(body), 'data'))
    t.deepEqual(await written(), before)
    const answered = await ask(path, query, {})
    t.is(answered.status, 200, JSON.stringify(answered.body))
  })

test.serial('null is accepted where it is allowed, and where nothing is executed', async t => {
  const N = { n: null }
  for (const query of [
    `mutation ($n: Int = 1) { ${nested('data { attributes { repeat(times: 1, many: [2]) @include(if: true) } }')} __typename @skip(if: false) ... @include(if: false) { b: ${nested('data { attributes { repeat(times: $n) } }')} } }`,
    'query ($n: Int = 1) { sum(of: [[1]]) @include(if: true) posts(pagination: { limit: $n }) { data { id } } }',
    'query ($n: [Int!] = [1]) { sum(of: null) b: posts { data { attributes { repeat(times: 1, many: $n) } } } }',
    'mutation ($n: JSON = 1) { createPost(data: { extra: [$n, { deep: $n }] }) { data { attributes { extra } } } }',
    `mutation ($n: Int = 1) { ${nested('data { id ...F @skip(if: true) }')} } fragment F on PostEntity { attributes { repeat(times: $n) } }`,
  ]) {
    const { status, body } = await ask('/graphql', query, N)
    t.is(status, 200, JSON.stringify(body))
    t.false(Object.hasOwn(Object(body), 'errors'), JSON.stringify(body))
  }
})

test.serial('all wrong positions of a document are reported, each with its place', async t => {
  const { body } = await ask(
    '/graphql',
    `mutation ($n: ID = "1", $m: Int = 1) { updatePost(id: $n, data: {}) { data { attributes { repeat(times: $m) } } } }`,
    { n: null, m: null },
  )
  t.like(body, {
    errors: [
      { message: nullHere('n', 'the argument id of Mutation.updatePost', 'ID!'), locations: [{ line: 1 }] },
      { message: nullHere('m', 'the argument times of Post.repeat', 'Int!'), locations: [{ line: 1 }] },
    ],
  })
})
