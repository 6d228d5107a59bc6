import { join } from 'node:path'
import test from 'ava'
import type { TestApp, TestResult } from '../../core/testing.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'

// The extension service at work: reference/graphql.md#9-extension-service. The project is in plugins/.
let app: TestApp
const file = teardownOfFile(test.after.always)

test.before(async () => {
  app = await openTestApp(file, { project: join(import.meta.dirname, 'plugins') })
  await fill()
})

const ALL = { token: 'all-all-all-all-all-all-all-all-all' }
const READ = { token: 'read-read-read-read-read-read-read' }
const FINDER = { token: 'find-find-find-find-find-find-find' }

async function fill() {
  const documents = app.app.documents
  const ann = await documents('person').create({ data: { name: 'Ann' } })
  const add = (name: string, data: object) =>
    documents('restaurant').create({ data: { name, owner: ann.documentId, ...data }, status: 'published' })
  const attic = await add('Attic', {
    stars: 1,
    rent: 500,
    mood: 'very loud',
    opening: { day: 'Monday', host: ann.documentId },
    hours: [{ __component: 'shared.opening', day: 'Friday', host: ann.documentId }],
  })
  const cellar = await add('Cellar', { stars: 2, rent: 5 })
  await documents('restaurant').create({ data: { name: 'Draft', stars: 3 } })
  for (const [name, price, restaurant] of [
    ['Bread', 1, attic],
    ['Cake', 2, attic],
    ['Dumpling', 3, cellar],
  ] as const)
    await documents('dish').create({ data: { name, price, restaurant: restaurant.documentId } })
}

const ask = (query: string, request = {}, variables = {}) => app.graphql(query, variables, request)
const codes = ({ errors = [] }: TestResult) => errors.map(({ extensions }) => extensions.code)

test('a custom root field requires a signed-in user or a full-access token by default', async t => {
  const query = '{ plain open scoped scopedTwo scopedEmpty authEmpty declared object }'
  const all = { plain: 'plain', open: 'open', scoped: 'scoped', scopedTwo: 'two', scopedEmpty: 'empty' }
  const everything = { ...all, authEmpty: 'empty', declared: 'declared!', object: 'of an object' }
  t.deepEqual(await ask(query, ALL), { data: everything })
  const anonymous = await ask(query)
  t.deepEqual(anonymous.data, { ...everything, plain: null, scopedTwo: null, authEmpty: null })
  t.deepEqual(anonymous.errors?.[0], {
    message: 'Forbidden access',
    extensions: {
      error: { name: 'ForbiddenError', message: 'Forbidden access', details: {} },
      code: 'FORBIDDEN',
    },
  })
  t.deepEqual((await ask(query, READ)).data, { ...everything, plain: null, authEmpty: null })
  t.deepEqual((await ask(query, FINDER)).data, {
    ...everything,
    plain: null,
    scopedTwo: null,
    authEmpty: null,
  })
  t.deepEqual(await ask('mutation { touch(n: 2) }', ALL), { data: { touch: 2 } })
  t.deepEqual(codes(await ask('mutation { touch(n: 2) }')), ['FORBIDDEN'])
})

test('a field runs auth, then middlewares from outermost, then policies in order, then the resolver', async t => {
  const { data } = await ask('{ order }')
  t.deepEqual(data, { order: ['a in', 'b in', 'p', 'q', 'resolver', 'b out', 'a out'] })
})

for (const kind of ['true', 'undefined'])
  test(`a policy that returns ${kind} permits the field`, async t => {
    t.deepEqual(await ask(`{ policy(kind: "${kind}") }`), { data: { policy: 'passed' } })
  })

for (const kind of ['false', 'null', '0', '\\"text\\"', 'later', 'throws', 'hangs', '{}'])
  test(`a failing policy blocks only its field: ${kind}`, async t => {
    const answer = await ask(`{ policy(kind: "${kind}") open }`)
    t.deepEqual(answer.data, { policy: null, open: 'open' })
    t.deepEqual(answer.errors, [
      {
        message: 'Policy Failed',
        extensions: {
          error: { name: 'PolicyError', message: 'Policy Failed', details: {} },
          code: 'FORBIDDEN',
        },
      },
    ])
  })

test('a PolicyError keeps its message and its details', async t => {
  const { errors } = await ask('{ policy(kind: "details") }')
  t.deepEqual(errors?.[0]?.extensions.error, {
    name: 'PolicyError',
    message: 'Not today',
    details: { day: 'Sunday' },
  })
})

test('resolvers and policies see the caller, the request and the field; their headers are sent', async t => {
  const answer = await app.request('POST', '/graphql', { body: { query: '{ context }' } })
  const { context } = (answer.body as { data: { context: unknown } }).data
  t.deepEqual(context, { parent: true, args: {}, user: null, path: '/graphql', field: 'context' })
  t.is(answer.headers['x-policy'], 'Query.context')
})

test('a middleware may change arguments and results, throw, or return without calling next', async t => {
  const { data, errors } = await ask('{ argument(k: 1) replaced skipped thrown missing }')
  t.deepEqual(data, {
    argument: 2,
    replaced: 'not the resolver',
    skipped: 'the middleware',
    thrown: null,
    missing: null,
  })
  t.deepEqual(
    errors?.map(({ message }) => message),
    ['the middleware'],
  )
})

test('errors of the contract keep their code, and a plain Error its message; any other is opaque', async t => {
  const reported = async (kind: string) => (await ask(`{ fails(kind: "${kind}") }`)).errors?.[0]
  t.deepEqual((await reported('valid'))?.extensions, {
    error: { name: 'ValidationError', message: 'not like this', details: { kind: 'valid' } },
    code: 'BAD_USER_INPUT',
  })
  const plain = await reported('plain')
  t.deepEqual([plain?.message, plain?.path], ['my own words', ['fails']])
  t.is(plain?.extensions.code, 'INTERNAL_SERVER_ERROR')
  t.regex(app.log().join('\n'), /my own words/)
  for (const kind of ['type', 'own', 'text'])
    t.is((await reported(kind))?.message, 'Internal Server Error', kind)
})

const RESTAURANT = `{
  data { id attributes {
    name stars mood
    dishes(sort: "price:desc") { data { attributes { name } } }
    opening { day }
    hours { ... on ComponentSharedOpening { day } }
  } }
}`

test('documents returned by code are resolved like generated ones, with relations, components and zones', async t => {
  const { data, errors } = await ask(`{ nearest ${RESTAURANT} }`)
  t.falsy(errors)
  const { id, attributes } = (data as { nearest: { data: { id: string; attributes: unknown } } }).nearest.data
  t.regex(id, /^[a-z0-9]{24}$/)
  t.deepEqual(attributes, {
    name: 'Attic',
    // Its middleware multiplies it.
    stars: 10,
    mood: 'very_loud',
    dishes: { data: [{ attributes: { name: 'Cake' } }, { attributes: { name: 'Bread' } }] },
    opening: { day: 'Monday' },
    hours: [{ day: 'Friday' }],
  })
})

test('code may return pages of lists, entities with attributes, and drafts with their relations', async t => {
  const { data, errors } = await ask(`{
    top { data { attributes { name other: dishes(sort: "name") { data { id } } } } meta { pagination { total pageCount } } }
    drafts { data { attributes { name dishes(sort: "name") { data { attributes { name } } } } } }
    entity { data { attributes { name distance } } }
    absent { data { id } }
  }`)
  t.falsy(errors)
  const { top, drafts, entity, absent } = data as Record<string, { data: { attributes: object }[] }>
  t.like(top, { meta: { pagination: { total: 2, pageCount: 1 } } })
  t.like(top?.data[0]?.attributes, { name: 'Attic' })
  t.deepEqual(
    drafts?.data.map(({ attributes }) => attributes),
    [
      {
        name: 'Attic',
        dishes: { data: [{ attributes: { name: 'Bread' } }, { attributes: { name: 'Cake' } }] },
      },
      { name: 'Cellar', dishes: { data: [{ attributes: { name: 'Dumpling' } }] } },
      { name: 'Draft', dishes: { data: [] } },
    ],
  )
  t.deepEqual(entity, { data: { attributes: { name: 'Attic', distance: 2.5 } } } as never)
  t.is(absent, null as never)
})

test('entities and attributes may appear anywhere in custom types', async t => {
  const { data, errors } = await ask(`{ guide {
    best { data { attributes { name } } }
    all { id row: attributes { name dishes(sort: "name") { data { attributes { name } } } } }
    inside { name dishes(sort: "name") { data { attributes { name } } } }
    many { name dishes(sort: "name:desc", pagination: { limit: 1 }) { data { attributes { name } } } }
  } }`)
  t.falsy(errors)
  const dishes = (...names: string[]) => ({ data: names.map(name => ({ attributes: { name } })) })
  const { guide } = data as { guide: Record<string, unknown> }
  t.deepEqual(guide.inside, { name: 'Attic', dishes: dishes('Bread', 'Cake') })
  t.deepEqual(guide.many, [
    { name: 'Attic', dishes: dishes('Cake') },
    { name: 'Cellar', dishes: dishes('Dumpling') },
  ])
  t.like((guide.all as object[])[1], { row: { name: 'Cellar', dishes: dishes('Dumpling') } })
})

test('a document that code invents contains its own relations', async t => {
  const { data, errors } = await ask(
    `{ computed { data { id attributes {
      name owner { data { attributes { name } } } opening { day }
      dishes(sort: "name") { data { attributes { name restaurant { data { attributes { name } } } } } }
    } } } }`,
    ALL,
  )
  t.falsy(errors)
  t.deepEqual(data, {
    computed: {
      data: {
        id: null,
        attributes: {
          name: 'Nowhere',
          owner: { data: { attributes: { name: 'Invented' } } },
          opening: { day: 'never' },
          dishes: {
            data: [
              { attributes: { name: 'Bread', restaurant: { data: { attributes: { name: 'Attic' } } } } },
            ],
          },
        },
      },
    },
  })
})

test('relations of documents from custom code are shown only to callers who may find them', async t => {
  const query = '{ nearest { data { attributes { name opening { host { data { id } } } } } } }'
  const anonymous = await ask(query)
  t.deepEqual(codes(anonymous), ['FORBIDDEN'])
  t.like(anonymous.data, { nearest: { data: { attributes: { name: 'Attic', opening: { host: null } } } } })
  t.falsy((await ask(query, ALL)).errors)
})

test('a resolver that replaces a generated one may call it, and keeps its permission', async t => {
  const query =
    '{ restaurants(sort: "name:asc") { data { attributes { name dishes(sort: "name") { data { attributes { name } } } } } } }'
  const { data, errors } = await ask(query)
  t.falsy(errors)
  const { restaurants } = data as { restaurants: { data: { attributes: { name: string } }[] } }
  t.deepEqual(
    restaurants.data.map(({ attributes }) => attributes.name),
    ['Cellar', 'Attic'],
  )
})

test('fields that extensions add to generated types receive the whole row, for any selection', async t => {
  const { data, errors } = await ask(`{ restaurants { data { self attributes {
    shout dear siblings { data { attributes { name dishes(sort: "name") { data { id } } } } }
  } } } }`)
  t.falsy(errors)
  const { restaurants } = data as { restaurants: { data: Record<string, unknown>[] } }
  t.like(restaurants.data[1], { self: 'Attic', attributes: { shout: 'ATTIC', dear: true } })
  t.like(restaurants.data[0], { self: 'Cellar', attributes: { shout: 'CELLAR', dear: false } })
  t.like(restaurants.data[0], {
    attributes: {
      siblings: {
        data: [{ attributes: { name: 'Attic' } }, { attributes: { name: 'Cellar' } }],
      },
    },
  })
})

test('policies and middlewares apply to nested fields; a blocked field is null, and others are answered', async t => {
  const { data, errors } = await ask('{ restaurants { data { attributes { name stars } } } }')
  t.deepEqual(data, {
    restaurants: {
      data: [{ attributes: { name: 'Cellar', stars: null } }, { attributes: { name: 'Attic', stars: 10 } }],
    },
  })
  t.deepEqual(
    errors?.map(({ message }) => message),
    ['Policy Failed'],
  )
  const unsorted = await ask('{ restaurants { data { attributes { name dishes { data { id } } } } } }')
  t.is(unsorted.errors?.length, 2)
  t.like((unsorted.data as never as { restaurants: unknown }).restaurants, {
    data: [{ attributes: { name: 'Cellar', dishes: null } }, { attributes: { name: 'Attic', dishes: null } }],
  })
})

test('a scope of a nested field replaces its own permission; without it null propagates to the nearest nullable field', async t => {
  const owner = await ask(
    '{ restaurants { data { attributes { owner { data { attributes { name } } } } } } }',
  )
  t.falsy(owner.errors)
  t.like((owner.data as { restaurants: { data: object[] } }).restaurants.data[0], {
    attributes: { owner: { data: { attributes: { name: 'Ann' } } } },
  })
  const meta = await ask('{ restaurants { meta { pagination { total } } } }', FINDER)
  t.deepEqual(codes(meta), ['FORBIDDEN'])
  t.deepEqual(meta.data, { restaurants: null })
})

test('code may change the arguments of a generated relation, within the caller’s permissions', async t => {
  const query = `{ people { data { attributes { name
    restaurants(sort: "name:desc") { data { attributes { name dishes(sort: "name") { data { attributes { name } } } } } }
    again: restaurants(sort: "name", pagination: { limit: 5 }) { data { attributes { name } } }
    inPlace: restaurants(pagination: { start: 5 }) { data { attributes { name } } }
  } } } }`
  const { data, errors } = await ask(query, ALL)
  t.falsy(errors)
  const dumpling = { data: [{ attributes: { name: 'Dumpling' } }] }
  t.deepEqual(data, {
    people: {
      data: [
        {
          attributes: {
            name: 'Ann',
            restaurants: { data: [{ attributes: { name: 'Cellar', dishes: dumpling } }] },
            again: { data: [{ attributes: { name: 'Attic' } }] },
            inPlace: { data: [{ attributes: { name: 'Attic' } }] },
          },
        },
      ],
    },
  })
})

test('a scope replaces the permission of a generated field; auth: false lets every caller write', async t => {
  t.deepEqual((await ask('{ people { data { attributes { name } } } }')).data, {
    people: { data: [{ attributes: { name: 'Ann' } }] },
  })
  t.deepEqual(codes(await ask('{ person(id: "x") { data { id } } }')), ['FORBIDDEN'])
  const made = await ask('mutation { createDish(data: { name: "Zest" }) { data { attributes { name } } } }')
  t.deepEqual(made, { data: { createDish: { data: { attributes: { name: 'Zest' } } } } })
  t.deepEqual(codes(await ask('mutation { createPerson(data: { name: "Zoe" }) { data { id } } }')), [
    'FORBIDDEN',
  ])
})

test('nexus types use their own resolvers; nexus plugins wrap them and the generated ones', async t => {
  const { data, errors } = await ask(`{
    box(title: "a") { title restaurant { data { attributes { name dishes(sort: "name") { data { attributes { name } } } } } } }
    dishes(pagination: { limit: 1 }) { data { id } }
  }`)
  t.falsy(errors)
  const { box, dishes } = data as { box: unknown; dishes: { data: { id: string }[] } }
  const named = (name: string) => ({ attributes: { name } })
  const restaurant = {
    data: { attributes: { name: 'Attic', dishes: { data: [named('Bread'), named('Cake')] } } },
  }
  t.deepEqual(box, { title: '[a number 2!]', restaurant })
  t.regex(String(dishes.data[0]?.id), /^\[[a-z0-9]{24}\]$/)
})
