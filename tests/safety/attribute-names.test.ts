import test, { type ExecutionContext } from 'ava'
import { parse } from 'yaml'
import { compileApp } from '../../core/app/compile-app.ts'
import type { TestApp } from '../../core/testing.ts'
import { openSite } from '../content/site.ts'
import { openTestApp } from '../harness/test-app.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { exported, imported, projectFolder } from '../transfer/streaming.ts'
import { ATTRIBUTE_NAMES, HAZARDS, PROJECT } from './attribute-names.ts'

type Values = Readonly<Record<string, unknown>>

const VALUES: Values = Object.fromEntries(ATTRIBUTE_NAMES.map(name => [name, `v_${name}`]))

async function open(t: ExecutionContext): Promise<TestApp> {
  const project = {
    ...parse(PROJECT),
    name: 'Names',
    roles: { public: { permissions: { '*': '*' } } },
    rest: { defaultLimit: 10, maxLimit: 10 },
  }
  return openTestApp(t, { project })
}

interface Sent {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  readonly data: any
}

async function send({ request }: TestApp, method: string, path: string, data?: unknown): Promise<Sent> {
  const { status, body } = await request(method, path, data === undefined ? {} : { body: { data } })
  if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`)
  return { status, data: (body as { data?: unknown } | null)?.data }
}

async function ask({ graphql }: TestApp, query: string): Promise<Sent['data']> {
  const { data, errors } = await graphql(query)
  if (errors) throw new Error(`${query.slice(0, 200)}: ${JSON.stringify(errors).slice(0, 500)}`)
  return data
}

const pick = (from: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.map(name => [name, from[name]]))

test('at least two hundred names are tested', t => {
  t.true(ATTRIBUTE_NAMES.length >= 200)
})

test('REST writes, reads, filters and sorts by attributes of any name', async t => {
  const app = await open(t)
  for (const path of ['/api/plains', '/api/versioneds']) {
    const { data } = await send(app, 'POST', path, VALUES)
    t.deepEqual(pick(data, ATTRIBUTE_NAMES), VALUES)
    await send(app, 'POST', path, { a: 'another' })
    const changed = await send(app, 'PUT', `${path}/${data.documentId}`, VALUES)
    t.deepEqual(pick(changed.data, ATTRIBUTE_NAMES), VALUES)
    const listed = await send(app, 'GET', `${path}?sort=${ATTRIBUTE_NAMES.join(',')}&populate=*`)
    t.deepEqual(pick(listed.data[0], ATTRIBUTE_NAMES), VALUES, 'a value comes before none')
    for (const name of ATTRIBUTE_NAMES) {
      const found = await send(
        app,
        'GET',
        `${path}?filters[${name}]=v_${name}&sort=${name}&fields=${name}&pagination[after]=`,
      )
      t.deepEqual(
        found.data,
        [{ id: found.data[0].id, documentId: data.documentId, [name]: `v_${name}` }],
        name,
      )
    }
  }
})

test('versions of documents with attributes of any name are published, discarded, translated and deleted', async t => {
  const app = await open(t)
  const { data } = await send(app, 'POST', '/api/versioneds?status=draft', VALUES)
  const path = `/api/versioneds/${data.documentId}`
  await send(app, 'PUT', `${path}?locale=fr`, VALUES)
  const documents = app.app.documents('versioned')
  await documents.publish({ documentId: data.documentId, locale: '*' })
  await documents.update({ documentId: data.documentId, data: { r: 'changed' } })
  await documents.discardDraft({ documentId: data.documentId })
  const draft = await send(app, 'GET', `${path}?status=draft`)
  t.deepEqual(pick(draft.data, ATTRIBUTE_NAMES), VALUES)
  await documents.unpublish({ documentId: data.documentId, locale: 'fr' })
  t.is((await send(app, 'DELETE', path)).status, 204)
})

test('unique attributes and uids of any name are checked and generated', async t => {
  const app = await open(t)
  const values = Object.fromEntries(HAZARDS.map(name => [name, name]))
  await send(app, 'POST', '/api/markeds', values)
  const again = await app.request('POST', '/api/markeds', { body: { data: values } })
  t.is(again.status, 400)
  const { details } = (again.body as { error: { details: { errors: { path: string[] }[] } } }).error
  t.deepEqual(details.errors.map(({ path }) => path[0]).toSorted(), HAZARDS.toSorted())
  await send(app, 'POST', '/api/sluggeds', { r: 'One' })
  const { data } = await send(app, 'POST', '/api/sluggeds', { r: 'One' })
  t.like(data, { o: 'one-1', value: 'one-1' })
})

test('relations of any name are written, filtered, sorted, populated and counted', async t => {
  const app = await open(t)
  const target = (await send(app, 'POST', '/api/linkeds', { label: 'target' })).data.documentId
  const links = Object.fromEntries(
    HAZARDS.flatMap(name => [
      [name, target],
      [`${name}Many`, [target]],
    ]),
  )
  const { data } = await send(app, 'POST', '/api/linkeds?populate=*', { label: 'source', ...links })
  for (const name of HAZARDS) t.is(data[name].label, 'target', name)
  const populate = HAZARDS.map(name => `populate[${name}]=true&populate[${name}Many][count]=true`).join('&')
  const counted = await send(app, 'GET', `/api/linkeds/${data.documentId}?${populate}`)
  for (const name of HAZARDS) t.is(counted.data[`${name}Many`].count, 1, name)
  for (const name of HAZARDS) {
    const query = `filters[${name}][label]=target&filters[${name}Many][label]=target&sort=${name}.label&fields=label`
    t.is((await send(app, 'GET', `/api/linkeds?${query}`)).data.length, 1, name)
  }
  const released = Object.fromEntries(HAZARDS.map(name => [`${name}Back`, { disconnect: [data.documentId] }]))
  await send(app, 'PUT', `/api/linkeds/${target}`, released)
  const after = await send(app, 'GET', `/api/linkeds/${data.documentId}?populate=*`)
  for (const name of HAZARDS) t.deepEqual(after.data[`${name}Many`], [], name)
  await send(app, 'DELETE', `/api/linkeds/${target}`)
})

const ZONED = {
  r: [
    { __component: 'parts.all', ...VALUES },
    { __component: 'parts.nested', r: [VALUES] },
  ],
  o: { r: [VALUES, { a: 'second' }] },
  p: [VALUES],
}

test('components and dynamic zones with attributes of any name are returned completely', async t => {
  const app = await open(t)
  const { data } = await send(app, 'POST', '/api/zoneds', ZONED)
  const deep = 'populate[r][populate]=*&populate[o][populate]=*&populate[p]=true'
  const found = await send(app, 'GET', `/api/zoneds/${data.documentId}?${deep}`)
  t.deepEqual(pick(found.data.r[0], ATTRIBUTE_NAMES), VALUES)
  t.deepEqual(pick(found.data.r[1].r[0], ATTRIBUTE_NAMES), VALUES)
  t.deepEqual(pick(found.data.o.r[0], ATTRIBUTE_NAMES), VALUES)
  t.deepEqual(pick(found.data.p[0], ATTRIBUTE_NAMES), VALUES)
  const filtered = await send(app, 'GET', '/api/zoneds?filters[p][r]=v_r&filters[o][r][o]=v_o&sort=o.r.a')
  t.is(filtered.data.length, 1)
})

test('GraphQL returns attributes of any name, under any alias', async t => {
  const app = await open(t)
  await ask(app, `mutation { createPlain(data: ${literal(VALUES)}) { data { id } } }`)
  await ask(app, `mutation { createVersioned(data: ${literal(VALUES)}) { data { id } } }`)
  const all = ATTRIBUTE_NAMES.join(' ')
  for (const [type, published] of [
    ['plains', ''],
    ['versioneds', 'publicationState: PREVIEW'],
  ] as const) {
    const answer = await ask(
      app,
      `{ ${type}${published && `(${published})`} { data { id attributes { ${all} } } meta { pagination { total } } } }`,
    )
    t.deepEqual(answer[type].data[0].attributes, VALUES)
    for (const name of ATTRIBUTE_NAMES) {
      const query = `{ ${type}(${published} filters: { ${name}: { eq: "v_${name}" } }, sort: "${name}") { data { attributes { ${name}: a } } } }`
      t.deepEqual((await ask(app, query))[type].data, [{ attributes: { [name]: 'v_a' } }], name)
    }
  }
})

test('GraphQL returns relations, components and zones under aliases of any name', async t => {
  const app = await open(t)
  const { data } = await send(app, 'POST', '/api/linkeds', { label: 'target' })
  await send(app, 'POST', '/api/linkeds', { label: 'source', r: data.documentId, rMany: [data.documentId] })
  await send(app, 'POST', '/api/zoneds', ZONED)
  for (const name of HAZARDS) {
    const links = `${name}: rMany { ${name}: data { ${name}: attributes { ${name}: label } } }`
    const one = await ask(
      app,
      `{ ${name}: linkeds(filters: { r: { label: { eq: "target" } } }) { ${name}: data { ${name}: attributes { ${links} } } } }`,
    )
    t.deepEqual(
      one[name][name],
      [{ [name]: { [name]: { [name]: [{ [name]: { [name]: 'target' } }] } } }],
      name,
    )
    const zone = `${name}: r { ... on ComponentPartsAll { ${name}: o } ... on ComponentPartsNested { nested: r { ${name}: o } } }`
    const below = `one: o { ${name}: r { ${name}: o } } two: p { ${name}: o }`
    const two = await ask(
      app,
      `{ zoneds(publicationState: PREVIEW) { data { attributes { ${zone} ${below} } } } }`,
    )
    t.deepEqual(two.zoneds.data[0].attributes.two, [{ [name]: 'v_o' }], name)
    t.deepEqual(two.zoneds.data[0].attributes[name][0], { [name]: 'v_o' }, name)
  }
})

const literal = (values: Values): string =>
  `{ ${Object.entries(values)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ')} }`

test('content/ and exports support attributes of any name', async t => {
  const yaml = JSON.stringify([
    { documentId: 'one', ...VALUES, locales: { fr: VALUES } },
    { documentId: 'two', status: 'draft', ...VALUES },
  ])
  const files = {
    'project.yaml': PROJECT,
    'content/versioneds.yaml': yaml,
    'content/plains.yaml': JSON.stringify([{ documentId: 'plain', ...VALUES }]),
    'content/zoneds.yaml': JSON.stringify([{ documentId: 'zoned', ...ZONED }]),
    'content/linkeds.yaml': JSON.stringify([
      { documentId: 'target', label: 'target' },
      { documentId: 'source', ...Object.fromEntries(HAZARDS.map(name => [`${name}Many`, ['target']])) },
    ]),
  }
  const site = await openSite(t, files)
  await site.must()
  t.deepEqual(await site.must(), {}, 'nothing is written twice')
  t.deepEqual(pick(await site.get('versioneds/one?locale=fr'), ATTRIBUTE_NAMES), VALUES)
  const lines = await exported({ folder: site.folder.path, database: site.database })
  const database = await openTestDatabase(t)
  const folder = projectFolder(t, `name: Test\n${PROJECT}`).path
  const report = await imported({ folder, database }, lines)
  t.false(Array.isArray(report), String(report))
  t.deepEqual((await exported({ folder, database })).slice(1), lines.slice(1))
})

/** Names that cannot be kept apart or written down, and what is said of them. */
const REFUSED: Readonly<Record<string, readonly [attributes: string, message: RegExp]>> = {
  'differ in case only': ['{ fooBar: string, FooBar: string }', /`thing\.fooBar`.*`foo_bar`|`foo_bar`/],
  'have letters beyond ASCII': ['{ é: string }', /é/],
  'have a dollar sign, as aliases have': ['{ "r$": string }', /r\$/],
  'are longer than PostgreSQL keeps': [`{ ${'z'.repeat(64)}: string }`, /at most 63/],
  'are columns of every document': ['{ document_id: string }', /document_id/],
  'are the column of a relation': [
    '{ authorKey: integer, author: { type: relation, relation: manyToOne, target: thing } }',
    /author_key/,
  ],
}

for (const [what, [attributes, message]] of Object.entries(REFUSED)) {
  test(`a project is refused if its attributes ${what}`, async t => {
    const folder = projectFolder(t, `name: Test\ncontentTypes: { thing: { attributes: ${attributes} } }\n`)
    const compiled = await compileApp(folder.path, {})
    t.false(compiled.ok)
    if (!compiled.ok) t.regex(compiled.reasons.map(reason => reason.message).join('\n'), message)
  })
}

/** Tables that are called like queries within statements. */
const TABLES = ['taken', 'ends', 'pair', 'differing', 'gone', 'p0', 'p1', 'page', 'due', 'r', 't']

test('types with tables of any name are linked from both sides and published', async t => {
  const both = (key: string, next: string, before: string) => ({
    draftAndPublish: true,
    tableName: key,
    pluralApiId: `x-${key}-all`,
    attributes: {
      name: 'string',
      to: { type: 'relation', relation: 'manyToMany', target: `x-${next}`, inversedBy: 'from' },
      from: { type: 'relation', relation: 'manyToMany', target: `x-${before}`, mappedBy: 'to' },
      one: { type: 'relation', relation: 'manyToOne', target: `x-${next}`, inversedBy: 'ones' },
      ones: { type: 'relation', relation: 'oneToMany', target: `x-${before}`, mappedBy: 'one' },
    },
  })
  const at = (index: number) => String(TABLES.at(index % TABLES.length))
  const contentTypes = Object.fromEntries(
    TABLES.map((key, index) => [`x-${key}`, both(key, at(index + 1), at(index - 1))]),
  )
  const roles = { public: { permissions: { '*': '*' } } }
  const app = await openTestApp(t, { project: { name: 'Tables', contentTypes, roles } })
  for (const [index, key] of TABLES.entries()) {
    const [documents, others] = [app.app.documents(`x-${key}`), app.app.documents(`x-${at(index + 1)}`)]
    const next = await others.create({ data: { name: 'next' }, status: 'published' })
    const one = await documents.create({ data: { name: 'one', to: [next.documentId], one: next.documentId } })
    await documents.publish({ documentId: one.documentId })
    await others.update({
      documentId: next.documentId,
      data: { from: { disconnect: [one.documentId] }, ones: { set: [] } },
      status: 'published',
    })
    await others.update({
      documentId: next.documentId,
      data: { from: { connect: [one.documentId] }, ones: { connect: [one.documentId] } },
      status: 'published',
    })
    const found = await documents.findOne({ documentId: one.documentId, populate: '*', status: 'published' })
    t.like(found, { to: [{ name: 'next' }], one: { name: 'next' } }, key)
    await documents.discardDraft({ documentId: one.documentId })
    await documents.delete({ documentId: one.documentId })
  }
})
