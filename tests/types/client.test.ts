import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import { transformSync } from 'esbuild'
import ts from 'typescript'
import { runClient } from '../../tools/cli/types/client.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'

const root = resolve(import.meta.dirname, '../..')
const project = join(root, 'tests/conformance/project')
const folder = temporaryFolder()
teardownOfFile(test.after.always).teardown(folder.remove)
const file = join(folder.path, 'api.ts')

const run = async (more: { check?: boolean } = {}) => {
  let output = ''
  const write = (text: string) => {
    output += text
  }
  const code = await runClient({
    folder: project,
    out: file,
    check: false,
    env: {},
    write,
    writeError: write,
    ...more,
  })
  return { code, output }
}

test.serial('plinth client writes the client of a project, and reports an outdated one', async t => {
  t.is((await run({ check: true })).code, 1)
  t.is((await run()).code, 0)
  t.is((await run({ check: true })).code, 0)
  const text = readFileSync(file, 'utf8')
  t.false(/from '/.test(text), 'no dependencies')
  t.false(/resetPasswordToken|sessionVersion/.test(text), 'private attributes')
})

test.serial('types of answers follow fields and populate, in the strictest mode of TypeScript', t => {
  copyFileSync(join(import.meta.dirname, 'fixtures/client-use.ts'), join(folder.path, 'use.ts'))
  const program = ts.createProgram([join(folder.path, 'use.ts')], {
    ...{
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      noImplicitReturns: true,
    },
    ...{
      noUnusedLocals: true,
      noUnusedParameters: true,
      noImplicitOverride: true,
      verbatimModuleSyntax: true,
    },
    ...{ erasableSyntaxOnly: true, allowImportingTsExtensions: true, noEmit: true, types: [] },
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  })
  const faults = ts.getPreEmitDiagnostics(program).map(({ file: source, start = 0, messageText }) => {
    const line = source ? source.getLineAndCharacterOfPosition(start).line + 1 : 0
    return `${source?.fileName.split('/').at(-1)}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
  t.deepEqual(faults, [])
})

const PROJECT = {
  name: 'Clients',
  server: { rateLimit: { api: false, auth: false, account: false } },
  contentTypes: {
    article: {
      pluralApiId: 'news-items',
      attributes: {
        title: { type: 'string', required: true },
        rank: 'integer',
        reach: 'biginteger',
        secret: { type: 'string', private: true },
        author: { type: 'relation', relation: 'manyToOne', target: 'author' },
      },
    },
    author: { attributes: { name: 'string' } },
    'home-page': { kind: 'single', attributes: { heading: 'string' } },
  },
  roles: {
    public: { permissions: { article: '*', author: ['find', 'findOne'], 'home-page': '*' } },
    authenticated: { permissions: { users: ['me'], upload: '*', author: '*' } },
  },
}

test.serial('the client reads, writes and signs in at a server, in less than 3 KB', async t => {
  const own = temporaryFolder()
  t.teardown(own.remove)
  own.write('project.yaml', JSON.stringify(PROJECT))
  const out = join(own.path, 'api.ts')
  t.is(
    await runClient({ folder: own.path, out, check: false, env: {}, write: () => {}, writeError: () => {} }),
    0,
  )
  const { code } = transformSync(readFileSync(out, 'utf8'), { loader: 'ts', format: 'esm', target: 'es2022' })
  const { code: small } = transformSync(code, { minify: true, format: 'esm', target: 'es2022' })
  t.true(small.length < 3_000, `${small.length} bytes`)
  writeFileSync(join(own.path, 'api.mjs'), code)
  const app = await openTestApp(t, { project: own.path, listen: true })
  // Its types are those of a generated file: the test of types covers them.
  const { createClient, ApiError } = await import(pathToFileURL(join(own.path, 'api.mjs')).href)
  const client = createClient({ url: `${app.url}/api/` })

  await app.app.documents('author').create({ data: { name: 'Jane' } })
  const [jane] = (await client.authors.find({ filters: { name: { $in: ['Jane', 'Joe & "x"'] } } })).data
  const { data: first } = await client.newsItems.create({
    title: 'One',
    rank: 1,
    author: jane.documentId,
    secret: 'x',
  })
  await client.newsItems.create({ title: 'Two', rank: 2 })
  t.false('secret' in first)
  const found = await client.newsItems.find({
    fields: ['title'],
    populate: { author: { fields: ['name'] } },
    filters: { $or: [{ rank: { $between: [0, 1] } }, { createdAt: { $lt: new Date(0) } }] },
    sort: ['rank:desc'],
    pagination: { page: 1, pageSize: 5 },
  })
  t.is(found.meta.pagination.total, 1)
  t.like(found.data[0], { title: 'One', author: { name: 'Jane' } })
  t.is(
    (await client.newsItems.update(first.documentId, { title: 'Uno' }, { fields: ['title'] })).data.title,
    'Uno',
  )
  t.is((await client.newsItems.findOne(first.documentId, { populate: 'author' })).data.author.name, 'Jane')
  const { data: wide } = await client.newsItems.update(first.documentId, { reach: 9_007_199_254_740_993n })
  t.is(wide.reach, '9007199254740993')
  const titles = async (filters: object) =>
    (await client.newsItems.find({ filters })).data.map(({ title }: { title: string }) => title)
  t.deepEqual(await titles({ author: null }), ['Two'])
  t.deepEqual(await titles({ reach: { $ne: null } }), ['Uno'])
  t.is(await client.newsItems.delete(first.documentId), undefined)
  await client.homePage.update({ heading: 'Hello' })
  t.is((await client.homePage.find()).data.heading, 'Hello')

  const missing = await t.throwsAsync(client.newsItems.findOne(first.documentId), { instanceOf: ApiError })
  t.like(missing, { status: 404, name: 'NotFoundError', message: 'Not Found' })
  const invalid = await t.throwsAsync(client.newsItems.create({ title: null }), { instanceOf: ApiError })
  t.like(invalid, { status: 400, name: 'ValidationError' })
  t.is((invalid as unknown as { details: { errors: unknown[] } }).details.errors.length, 1)
  await t.throwsAsync(client.authors.create({ name: 'x' }), { instanceOf: ApiError })

  const { jwt, user } = await client.auth.register({
    username: 'ann',
    email: 'ann@example.org',
    password: 'secret1',
  })
  t.truthy(jwt)
  t.is((await client.auth.me()).id, user.id)
  t.is((await client.authors.create({ name: 'Joe' })).data.name, 'Joe')
  const [uploaded] = await client.upload(new File(['text'], 'a.txt', { type: 'text/plain' }))
  t.is(uploaded.name, 'a.txt')
  client.auth.logout()
  await t.throwsAsync(client.auth.me(), { instanceOf: ApiError })
  t.is((await client.auth.login('ann', 'secret1')).user.username, 'ann')
  t.is((await client.request('GET', '/authors', { query: { pagination: { limit: 1 } } })).data.length, 1)
})
