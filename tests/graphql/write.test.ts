import test from 'ava'
import { openEndpoint } from './endpoint.ts'

const ALL = '[find, findOne, create, update, delete]'
const PROJECT = `
i18n: { locales: [en, fr, it], defaultLocale: en }
components:
  shared.note: { attributes: { text: string } }
  shared.seo: { attributes: { title: { type: string, required: true }, mood: { type: enumeration, enum: [two words, light] }, writer: { type: relation, relation: oneToOne, target: author } } }
contentTypes:
  post:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, required: true, minLength: 3 }
      slug: { type: uid, targetField: title }
      code: { type: string, unique: true, localized: false }
      meta: { type: json, localized: false }
      hour: time
      tags: { type: array, localized: false }
      author: { type: relation, relation: manyToOne, target: author, inversedBy: posts }
      seo: { type: component, component: shared.seo, localized: false }
      blocks: { type: dynamiczone, components: [shared.seo], localized: false }
  author:
    attributes:
      name: { type: string, required: true }
      secret: { type: string, private: true }
      posts: { type: relation, relation: oneToMany, target: post, mappedBy: author }
  page: { kind: single, draftAndPublish: true, attributes: { title: string } }
  setting: { kind: single, attributes: { name: { type: string, required: true } } }
roles:
  public: { permissions: { post: [find, findOne, create, update, delete, createLocalization], author: ${ALL}, page: [find, update, delete], setting: [find, update, delete] } }
  drafter: { permissions: { post: { find: true, create: true, update: true, publish: false }, author: [find] } }
  translator: { permissions: { post: { findOne: true, readDrafts: true, createLocalization: true, publish: true }, author: [find] } }
  stranger: { permissions: { post: { findOne: true, createLocalization: true }, author: [find] } }
  blind: { permissions: { post: { findOne: { fields: [title] }, create: true, update: true } } }
  own:
    permissions:
      post: { find: true, create: { where: { code: { $startsWith: own } }, set: { code: own } }, update: { where: { code: { $startsWith: own } } }, delete: { where: { code: { $startsWith: own } } } }
      author: { find: { where: { name: { $startsWith: A } } } }
`
const POST = 'data { id attributes { title slug code locale publishedAt } }'

let endpoint: Awaited<ReturnType<typeof openEndpoint>>
const endings: (() => unknown)[] = []
test.before(async t => {
  endpoint = await openEndpoint({ ...t, teardown: end => void endings.unshift(end) }, PROJECT)
})
test.after.always(async () => {
  for (const end of endings) await end()
})

type Answer = {
  readonly data: Record<
    string,
    { readonly data: { readonly id: string; readonly attributes: Record<string, unknown> } } | null
  >
  readonly errors?: readonly {
    readonly message: string
    readonly extensions: { readonly code: string; readonly error?: unknown }
  }[]
}

const run = (
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
  as?: string,
): Promise<Answer> => endpoint.ask(query, variables, as)

const create = (data: object, as?: string, locale?: string) =>
  run(
    `mutation ($data: PostInput!, $locale: I18NLocaleCode) { post: createPost(data: $data, locale: $locale) { ${POST} } }`,
    { data, ...(locale && { locale }) },
    as,
  )

const update = (id: unknown, data: object, as?: string, locale?: string) =>
  run(
    `mutation ($id: ID!, $data: PostInput!, $locale: I18NLocaleCode) { post: updatePost(id: $id, data: $data, locale: $locale) { ${POST} } }`,
    { id, data, ...(locale && { locale }) },
    as,
  )

const localize = (id: unknown, locale: string | null, data: object, as?: string) =>
  run(
    `mutation ($id: ID, $data: PostInput, $locale: I18NLocaleCode) { post: createPostLocalization(id: $id, data: $data, locale: $locale) { ${POST} } }`,
    { id, data, locale },
    as,
  )

const idOf = ({ data }: Answer): string => String(data.post?.data.id)
const attributesOf = ({ data }: Answer) => data.post?.data?.attributes
const codesOf = ({ errors = [] }: Answer) =>
  errors.map(({ extensions, message }) => `${extensions.code}: ${message}`)
const stateOf = async (id: string, locale = 'en') => {
  const rows = await endpoint.rows(
    `SELECT status, title, published_at IS NOT NULL FROM posts WHERE document_id = '${id}' AND locale = '${locale}' ORDER BY status`,
  )
  return rows.map(row => row.join(' '))
}

const FORBIDDEN = ['FORBIDDEN: Forbidden access']

test.serial('a new document is a draft unless publishedAt is set; an update keeps its status', async t => {
  const made = await create({
    title: 'One',
    createdAt: '1999-01-01T00:00:00Z',
    updatedAt: '1999-01-01T00:00:00Z',
  })
  const id = idOf(made)
  t.like(attributesOf(made), { title: 'One', slug: null, publishedAt: null, locale: 'en' })
  t.deepEqual(await stateOf(id), ['draft One false'])
  t.like(attributesOf(await update(id, { title: 'One a' })), { title: 'One a', publishedAt: null })
  const at = '2020-02-03T04:05:06.000Z'
  t.like(attributesOf(await update(id, { publishedAt: at })), { title: 'One a', publishedAt: at })
  t.like(attributesOf(await update(id, { title: 'One b' })), { title: 'One b', publishedAt: at })
  t.deepEqual(await stateOf(id), ['draft One b false', 'published One b true'])
  t.like(attributesOf(await update(id, { title: 'One c', publishedAt: null })), {
    title: 'One c',
    publishedAt: null,
  })
  t.deepEqual(await stateOf(id), ['draft One c false'])
  t.like(attributesOf(await create({ title: 'Two', publishedAt: '2999-01-01T00:00:00+01:00' })), {
    publishedAt: '2998-12-31T23:00:00.000Z',
  })
  for (const publishedAt of ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-12:00'])
    t.regex(codesOf(await create({ title: 'Out of range', publishedAt }))[0] ?? '', /^BAD_USER_INPUT/)
  const [[created]] = (await endpoint.rows(
    `SELECT created_at > '2020-01-01' FROM posts WHERE document_id = '${id}'`,
  )) as [[boolean]]
  t.true(created)
})

test.serial(
  'drafts are validated completely; errors equal those of REST except for the value, and nothing is written',
  async t => {
    const refused = await create({ title: 'x', seo: { mood: 'light' } })
    t.deepEqual(refused.errors?.[0]?.extensions, {
      code: 'BAD_USER_INPUT',
      error: {
        name: 'ValidationError',
        message: '2 errors occurred',
        details: {
          errors: [
            { path: ['title'], message: 'title must be at least 3 characters', name: 'ValidationError' },
            { path: ['seo', 'title'], message: 'seo.title must be defined.', name: 'ValidationError' },
          ],
        },
      },
    })
    await create({ title: 'Taken', code: 'taken', publishedAt: '2024-01-01T00:00:00Z' })
    t.deepEqual(codesOf(await create({ title: 'Again', code: 'taken' })), [
      'BAD_USER_INPUT: This attribute must be unique',
    ])
    t.deepEqual(codesOf(await create({})), ['BAD_USER_INPUT: title must be defined.'])
    for (const author of ['missing', '99999999'])
      t.deepEqual(codesOf(await create({ title: 'No author', author })), [
        'BAD_USER_INPUT: 1 relation(s) of type api::author.author associated with this entity do not exist',
      ])
    const { data } = await run(
      '{ posts(publicationState: PREVIEW, filters: { title: { in: ["x", "Again", "No author"] } }) { data { id } } }',
    )
    t.deepEqual(data.posts?.data as unknown, [])
  },
)

test.serial(
  'values are stored as sent: enumerations by name, JSON texts, zones, components by id',
  async t => {
    const FIELDS =
      'data { attributes { meta seo { id title mood } blocks { __typename ... on ComponentSharedSeo { id title mood } } } }'
    const made = await run(
      `mutation ($b: [PostBlocksDynamicZoneInput!]) { post: createPost(data: { title: "Values", meta: "text", seo: { title: "S", mood: two_words }, blocks: $b }) { data { id } ${FIELDS} } }`,
      { b: [{ __typename: 'ComponentSharedSeo', title: 'Z', mood: 'two_words', nope: 1, documentId: 'x' }] },
    )
    const { meta, seo, blocks } = attributesOf(made) as {
      meta: unknown
      seo: { id: string }
      blocks: { id: string }[]
    }
    t.is(meta, 'text')
    t.like(seo, { title: 'S', mood: 'two_words' })
    t.like(blocks[0], { __typename: 'ComponentSharedSeo', title: 'Z', mood: 'two_words' })
    const changed = await run(
      `mutation ($id: ID!, $data: PostInput!) { post: updatePost(id: $id, data: $data) { data { id } ${FIELDS} } }`,
      {
        id: idOf(made),
        data: {
          seo: { id: seo.id, mood: 'light' },
          blocks: [{ __typename: 'ComponentSharedSeo', id: blocks[0]?.id, title: 'Z2' }],
        },
      },
    )
    t.deepEqual(attributesOf(changed)?.seo, { id: seo.id, title: 'S', mood: 'light' })
    t.like(attributesOf(changed)?.blocks, [{ id: blocks[0]?.id, title: 'Z2', mood: 'two_words' }])
    const unknown = await endpoint.post({
      query:
        'mutation { createPost(data: { title: "Zone", blocks: [{ __typename: "Nope" }] }) { data { id } } }',
    })
    t.is(unknown.status, 400)
    t.regex(unknown.body.errors[0].message, /Component not found\. expected one of: ComponentSharedSeo/)
    for (const foreign of ['99999999', 'abc', '-1', '1.5']) {
      const seo = { id: foreign, title: 'Foreign' }
      const blocks = [{ __typename: 'ComponentSharedSeo', ...seo }]
      for (const [name, data] of Object.entries({ seo: { seo }, blocks: { blocks } }))
        t.deepEqual(codesOf(await update(idOf(made), data)), [
          `STRAPI_APPLICATION_ERROR: Some of the provided components in ${name} are not related to the entity`,
        ])
    }
  },
)

/** The status, and for the only error its code, whether it has locations, and the error in the form of REST. */
async function refusedZone(blocks: string, variables?: object) {
  const head = variables ? 'mutation ($b: [PostBlocksDynamicZoneInput!])' : 'mutation'
  const query = `${head} { createPost(data: { title: "Zone", blocks: ${blocks} }) { data { id } } }`
  const { status, body } = await endpoint.post({ query, ...(variables && { variables }) })
  const { message, extensions, locations } = body.errors[0]
  return {
    status,
    code: extensions.code,
    error: extensions.error,
    message,
    isPlaced: locations !== undefined,
  }
}

test.serial('a zone entry that fits no component is refused like any value of a wrong type', async t => {
  const MISSING = /Component not found\. expected one of: ComponentSharedSeo$/
  const NO_OBJECT = /a dynamic zone takes objects with a __typename$/
  const wrong = [
    ['{ __typename: "Nope" }', { __typename: 'Nope' }, MISSING],
    ['{ title: "x" }', { title: 'x' }, MISSING],
    ['{ __typename: 7 }', { __typename: 7 }, MISSING],
    ['{ __typename: "__proto__" }', { __typename: '__proto__' }, MISSING],
    ['"text"', 'text', NO_OBJECT],
    ['7', 7, NO_OBJECT],
  ] as const
  for (const [literal, value, message] of wrong) {
    const written = await refusedZone(`[${literal}]`)
    t.like(written, { status: 400, code: 'GRAPHQL_VALIDATION_FAILED', error: undefined, isPlaced: true })
    t.regex(written.message, message)
    const sent = await refusedZone('$b', { b: [value] })
    t.like(sent, { status: 400, code: 'BAD_USER_INPUT', error: undefined, isPlaced: true })
    t.regex(sent.message, message)
  }
})

test.serial(
  'a component that a zone does not allow is a ValidationError, and nothing is written',
  async t => {
    const entry = { __typename: 'ComponentSharedNote', text: 'x' }
    for (const refused of [
      await refusedZone('[{ __typename: "ComponentSharedNote", text: "x" }]'),
      await refusedZone('$b', { b: [entry] }),
    ]) {
      t.like(refused, { status: 200, code: 'BAD_USER_INPUT', isPlaced: false })
      t.like(refused.error, { name: 'ValidationError', message: refused.message })
      t.regex(refused.message, /blocks\[0\]\.__component|shared\.note/)
    }
    const { data } = await run(
      '{ posts(publicationState: PREVIEW, filters: { title: { eq: "Zone" } }) { data { id } } }',
    )
    t.deepEqual(data.posts?.data as unknown, [])
  },
)

test.serial('a missing document is no error except for single types; a record id is accepted', async t => {
  for (const id of ['99999999', 'missing', 'a\0b', '']) {
    t.deepEqual(await update(id, { title: 'Missing' }), { data: { post: { data: null } } } as never)
    t.deepEqual(await run('mutation ($id: ID!) { post: deletePost(id: $id) { data { id } } }', { id }), {
      data: { post: { data: null } },
    } as never)
  }
  const made = await create({ title: 'Numbered' })
  const [[record]] = (await endpoint.rows(`SELECT id FROM posts WHERE document_id = '${idOf(made)}'`)) as [
    [number],
  ]
  t.like(attributesOf(await update(record, { title: 'By number' })), { title: 'By number' })
  t.deepEqual(await update(idOf(made), { title: 'Not there' }, undefined, 'it'), {
    data: { post: { data: null } },
  } as never)
  const deleted = await run(
    'mutation ($id: ID!) { post: deletePost(id: $id) { data { id attributes { title author { data { id } } } } } }',
    { id: String(record) },
  )
  t.deepEqual(deleted.data.post?.data, {
    id: idOf(made),
    attributes: { title: 'By number', author: { data: null } },
  })
  t.deepEqual(await stateOf(idOf(made)), [])
  t.deepEqual(codesOf(await run('mutation { deleteSetting { data { id } } }')), [
    'STRAPI_NOT_FOUND_ERROR: Entity not found',
  ])
  const refused = await run('mutation { updateSetting(data: {}) { data { id } } }')
  t.deepEqual(refused.data.updateSetting, { data: null } as never)
  t.deepEqual(codesOf(refused), ['BAD_USER_INPUT: name must be defined.'])
  const single = await run(
    'mutation { a: updateSetting(data: { name: "A" }) { data { attributes { name } } } b: updatePage(data: { title: "P" }) { data { attributes { title publishedAt } } } }',
  )
  t.deepEqual(single.data.b?.data.attributes, { title: 'P', publishedAt: null })
})

test.serial(
  'a translation is created once with the shared values; changing shared values requires update',
  async t => {
    const id = idOf(await create({ title: 'English', code: 'shared' }))
    const french = await localize(id, 'fr', { title: 'Francais' })
    t.like(attributesOf(french), { title: 'Francais', locale: 'fr', code: 'shared', publishedAt: null })
    t.deepEqual(codesOf(await localize(id, 'fr', { title: 'Encore' })), [
      'STRAPI_APPLICATION_ERROR: locale is already used',
    ])
    t.deepEqual(codesOf(await localize(id, null, { title: 'Nowhere' })), [
      'STRAPI_APPLICATION_ERROR: locale is missing',
    ])
    t.deepEqual(codesOf(await localize('99999999', 'it', { title: 'Missing' })), [
      'STRAPI_NOT_FOUND_ERROR: Entity not found',
    ])
    t.deepEqual(codesOf(await localize('missing', 'it', { title: 'Missing' })), [
      'STRAPI_NOT_FOUND_ERROR: Entity not found',
    ])
    t.regex(
      codesOf(await create({ title: 'Unknown' }, undefined, 'xx'))[0] ?? '',
      /^BAD_USER_INPUT: Unknown locale xx/,
    )
    t.deepEqual(codesOf(await localize(id, 'it', { title: 'Italiano' }, 'drafter')), FORBIDDEN)
    t.deepEqual(
      codesOf(await localize(id, 'it', { title: 'Italiano', code: 'stolen' }, 'translator')),
      FORBIDDEN,
    )
    // A draft is hidden from a caller who may not read drafts.
    t.deepEqual(codesOf(await localize(id, 'it', { title: 'Italiano' }, 'stranger')), [
      'STRAPI_NOT_FOUND_ERROR: Entity not found',
    ])
    t.like(attributesOf(await localize(id, 'it', { title: 'Italiano' }, 'translator')), {
      title: 'Italiano',
      locale: 'it',
    })
    t.deepEqual(codesOf(await update(id, { title: 'Mine' }, 'translator')), FORBIDDEN)
  },
)

test.serial(
  'each mutation is one transaction, in order, with at most one statement more than over REST',
  async t => {
    const { statements, reads } = endpoint
    const before = [statements.length, reads.length]
    const answer = await run(`mutation {
    post: createPost(data: { title: "First" }) { ${POST} }
    bad: createPost(data: { title: "x" }) { ${POST} }
    third: createPost(data: { title: "Third" }) { ${POST} }
    no: deletePost(id: "missing") { ${POST} }
  }`)
    t.deepEqual(codesOf(answer), ['BAD_USER_INPUT: title must be at least 3 characters'])
    t.is(answer.data.bad, null)
    t.is(answer.data.third?.data.attributes.title, 'Third')
    t.is(reads.length, before[1] ?? 0)
    const count = async (work: () => Promise<unknown>) => {
      const start = statements.length
      await work()
      return statements.length - start
    }
    const id = idOf(answer)
    const draft = { status: 'draft' } as const
    const over = await count(() => endpoint.update('post', id, { title: 'Over REST' }, draft))
    // The rows decide whether it publishes; they are read again under a lock.
    t.is(await count(() => update(id, { title: 'Over GraphQL' })), over + 1)
    await endpoint.update('post', id, { title: 'Published' })
    const published = await count(() => endpoint.update('post', id, { title: 'Over REST again' }))
    t.true((await count(() => update(id, { title: 'Over GraphQL again' }))) <= published)
  },
)

test.serial('publishing, unpublishing and changing a published version require publish (S6)', async t => {
  const at = '2024-01-01T00:00:00.000Z'
  t.deepEqual(codesOf(await create({ title: 'Now', publishedAt: at }, 'drafter')), FORBIDDEN)
  const draft = await create({ title: 'Draft' }, 'drafter')
  t.like(attributesOf(draft), { title: 'Draft', publishedAt: null })
  t.like(attributesOf(await update(idOf(draft), { title: 'Draft b', publishedAt: null }, 'drafter')), {
    title: 'Draft b',
  })
  t.deepEqual(codesOf(await update(idOf(draft), { publishedAt: at }, 'drafter')), FORBIDDEN)
  const live = idOf(await create({ title: 'Live', publishedAt: at }))
  for (const data of [{ title: 'Changed' }, { publishedAt: null }, { publishedAt: at }])
    t.deepEqual(codesOf(await update(live, data, 'drafter')), FORBIDDEN)
  t.deepEqual(await stateOf(live), ['draft Live false', 'published Live true'])
})

test.serial('a caller who may not write cannot learn whether the document exists', async t => {
  const id = idOf(await create({ title: 'There' }))
  for (const each of [id, 'missing', '99999'])
    for (const mutation of [
      'updatePost(id: $id, data: {})',
      'deletePost(id: $id)',
      'createPostLocalization(id: $id, data: {}, locale: "fr")',
    ]) {
      const role = mutation.startsWith('update') ? 'translator' : 'blind'
      const answer = await run(
        `mutation ($id: ID!) { post: ${mutation} { data { id } } }`,
        { id: each },
        role,
      )
      t.deepEqual([codesOf(answer), answer.data.post], [FORBIDDEN, null], mutation)
    }
})

test.serial('a time accepts up to three decimals, and is returned with three', async t => {
  for (const [input, answered] of [
    ['10:11:12.5', '10:11:12.500'],
    ['10:11:12', '10:11:12.000'],
  ]) {
    const { data } = await run(
      'mutation ($hour: Time) { post: createPost(data: { title: "Hour", hour: $hour }) { data { id attributes { hour } } } }',
      { hour: input },
    )
    t.like(data.post?.data.attributes, { hour: answered })
  }
})

test.serial(
  'a text is a value of a json attribute, and is refused as it is by one that takes a list',
  async t => {
    t.falsy((await create({ title: 'Text', meta: '[1]' })).errors)
    t.deepEqual(codesOf(await create({ title: 'Text', tags: '[1]' })), [
      'BAD_USER_INPUT: tags must be a `array` type, but the final value was: `"[1]"`.',
    ])
  },
)

test.serial('null in a list of documents is ignored', async t => {
  const post = idOf(await create({ title: 'Kept' }))
  const author = await endpoint.create('author', { name: 'Zoe', posts: [post] })
  for (const posts of [[null], [post, null]])
    t.deepEqual(
      codesOf(
        await run(
          'mutation ($id: ID!, $data: AuthorInput!) { post: updateAuthor(id: $id, data: $data) { data { id } } }',
          {
            id: author.documentId,
            data: { posts },
          },
        ),
      ),
      ['BAD_USER_INPUT: Invalid relations'],
    )
  const answer = await run(`{ post(id: "${post}") { data { id attributes { author { data { id } } } } } }`)
  t.deepEqual(attributesOf(answer), { author: { data: { id: author.documentId } } })
})

test.serial('a role cannot link documents that it may not find, read or write (S4, S5)', async t => {
  const author = await endpoint.create('author', { name: 'Ann' })
  const other = await endpoint.create('author', { name: 'Bob' })
  const blind = (data: object) =>
    run(
      'mutation ($data: PostInput!) { post: createPost(data: $data) { data { attributes { title } } } }',
      { data },
      'blind',
    )
  t.deepEqual(codesOf(await blind({ title: 'Linked', author: author.documentId })), [
    'BAD_USER_INPUT: Invalid key author',
  ])
  t.deepEqual(codesOf(await blind({ title: 'Linked', seo: { title: 'S', writer: author.documentId } })), [
    'BAD_USER_INPUT: Invalid key writer at seo.writer',
  ])
  t.deepEqual(codesOf(await create({ title: 'Seen' }, 'blind')), ['BAD_USER_INPUT: Invalid parameter slug'])
  const written =
    'mutation { post: createPost(data: { title: "Blind" }) { data { id attributes { title author { data { id } } } } } }'
  t.deepEqual(codesOf(await run(written, {}, 'blind')), ['BAD_USER_INPUT: Invalid parameter author'])
  const link = (data: object) =>
    run(
      `mutation ($data: PostInput!) { post: createPost(data: $data) { data { id attributes { code author { data { attributes { name } } } } } } }`,
      { data },
      'own',
    )
  const gone = await link({ title: 'To Bob', author: other.documentId })
  const anonymous = await link({ title: 'To Bob', author: 'missing' })
  t.deepEqual(codesOf(gone), codesOf(anonymous))
  t.regex(codesOf(gone)[0] ?? '', /do not exist/)
  const own = await link({ title: 'To Ann', author: author.documentId, code: 'not chosen' })
  t.deepEqual(attributesOf(own), { code: 'own', author: { data: { attributes: { name: 'Ann' } } } })
  const foreign = idOf(await create({ title: 'Foreign', code: 'foreign' }))
  const remove = (id: string) =>
    run('mutation ($id: ID!) { post: deletePost(id: $id) { data { id } } }', { id }, 'own')
  // The draft is hidden from this role: it is answered as a document that does not exist.
  const unknown = { data: { post: { data: null } } }
  for (const id of [foreign, 'missing']) {
    t.deepEqual(await update(id, { title: 'Taken over' }, 'own'), unknown as never)
    t.deepEqual(await remove(id), unknown as never)
  }
  t.deepEqual(await stateOf(foreign), ['draft Foreign false'])
  const open = idOf(await create({ title: 'Open', code: 'open', publishedAt: '2024-05-01T08:00:00Z' }))
  t.deepEqual(codesOf(await update(open, { title: 'Taken over' }, 'own')), FORBIDDEN)
  t.deepEqual(codesOf(await remove(open)), FORBIDDEN)
})
