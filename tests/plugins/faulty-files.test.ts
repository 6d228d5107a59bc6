import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import test, { type ExecutionContext } from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { checkPlugins } from '../../core/app/open-plugins.ts'
import { printDiagnostic } from '../../core/faults/diagnostic.ts'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

// Each faulty plugin file is reported with its place before a start, or answers 500 with a line in the log.

const PROJECT = 'name: Notes\ncontentTypes:\n  note: { attributes: { text: string } }\n'

function project(t: ExecutionContext, files: Readonly<Record<string, string>>): Folder {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  for (const [file, text] of Object.entries(files)) folder.write(file, text)
  return folder
}

/** First lines of the faults of a start. */
async function faultsOf({ path }: Folder, report?: (message: string) => void): Promise<readonly string[]> {
  const compiled = await compileApp(path, {}, report)
  const { project: declared, model, plugins } = compiled.ok ? compiled.value : NOTHING
  const faults = compiled.ok ? await checkPlugins(declared, model, plugins) : compiled.reasons
  return faults.map(fault => printDiagnostic(fault).split('\n')[0] ?? '')
}

const NOTHING = {} as { project: never; model: never; plugins: never }

const IMPORT = "import { defineExtension, defineMiddleware, definePolicy } from 'plinth'\n"
const GOOD = `${IMPORT}export default definePolicy(() => true)\n`
const LOAD = 'the module cannot be loaded: '
/** From Node 22 on, the error also has the line and the column. */
const PLACE_IN_JSON = process.version.startsWith('v20.') ? '' : ' (line 1 column 3)'
const DEFINE_POLICY = 'expected `export default definePolicy(…)`, found '

/** File, text (after the import of `plinth`), place and message. */
const FILES: readonly (readonly [string, string, string])[] = [
  ['policies/a-empty.ts', '', `:1:1 ${DEFINE_POLICY}no export`],
  [
    'policies/a-named.ts',
    'export const one = 1, two = 2\n',
    `:1:1 ${DEFINE_POLICY}no default export, but \`one\`, \`two\``,
  ],
  [
    'policies/a-named-policy.ts',
    'export const mine = definePolicy(() => true)\n',
    `:1:1 ${DEFINE_POLICY}it under the name \`mine\`: export it as the default`,
  ],
  [
    'policies/a-common.cjs',
    "exports.check = require('plinth').definePolicy(() => true)\n",
    `:1:1 ${DEFINE_POLICY}it under the name \`check\`: export it as the default`,
  ],
  ['policies/a-number.ts', '\nexport default 5\n', `:3:1 ${DEFINE_POLICY}a number`],
  ['policies/a-null.ts', '\nexport default null\n', `:1:1 ${LOAD}its default export is null`],
  [
    'policies/a-class.ts',
    'class Mine {\n  check() {}\n}\nexport default Mine\n',
    `:5:1 ${DEFINE_POLICY}the class \`Mine\`: pass an object with functions to definePolicy`,
  ],
  [
    'policies/a-function.ts',
    'export default () => true\n',
    `:2:1 ${DEFINE_POLICY}a function: pass it to definePolicy`,
  ],
  [
    'policies/a-uncalled.ts',
    'export default definePolicy\n',
    `:2:1 ${DEFINE_POLICY}\`definePolicy\` itself: call it`,
  ],
  [
    'policies/a-promise.ts',
    'export default Promise.resolve(definePolicy(() => true))\n',
    `:2:1 ${DEFINE_POLICY}a promise: await it`,
  ],
  [
    'policies/a-object.ts',
    'const mine = { check: () => true }\nexport { mine as default }\n',
    `:3:1 ${DEFINE_POLICY}an object with \`check\``,
  ],
  ['policies/b-syntax.ts', 'const b = {\n', `:3:1 ${LOAD}Unexpected token`],
  ['policies/b-broken.mjs', 'export default (\n', `:3:1 ${LOAD}Unexpected token`],
  ['policies/c-syntax.mts', 'export default (]\n', `:2:17 ${LOAD}Unexpected token`],
  ['policies/d-syntax.cjs', 'const b = {]\n', `:1:12 ${LOAD}Unexpected token`],
  ['policies/e-syntax.js', 'const b = {]\n', `:2:12 ${LOAD}Unexpected token`],
  [
    'policies/f-key.ts',
    'export default definePolicy({ chek: () => true } as never)\n',
    `:2:26 ${LOAD}definePolicy(…) has no key \`chek\`: did you mean \`check\`?; it may have configSchema, check`,
  ],
  [
    'policies/f-lacks.ts',
    'export default definePolicy({} as never)\n',
    `:2:26 ${LOAD}definePolicy(…) has no \`check\`: a function that allows or refuses a request`,
  ],
  [
    'policies/f-type.ts',
    'export default definePolicy({ check: true } as never)\n',
    `:2:26 ${LOAD}\`check\` of definePolicy(…) must be a function, found a boolean`,
  ],
  [
    'policies/f-nothing.ts',
    'export default definePolicy(null as never)\n',
    `:2:26 ${LOAD}definePolicy(…) takes an object with check, found null`,
  ],
  [
    'policies/f-schema.ts',
    "export default definePolicy({\n  configSchema: 'x',\n  check: () => true,\n} as never)\n",
    ':3:3 its `configSchema` is no JSON Schema: schema must be object or boolean',
  ],
  [
    'policies/g-package.ts',
    "import x from '@leftpad/none/deep'\nexport default x\n",
    `:2:1 ${LOAD}Cannot find module '@leftpad/none/deep': install it with \`npm install @leftpad/none\``,
  ],
  [
    'policies/g-name.ts',
    "import { definePolcy } from 'plinth'\nexport default definePolcy(() => true)\n",
    `:3:25 ${LOAD}\`plinth\` exports no \`definePolcy\`: did you mean \`definePolicy\`?`,
  ],
  [
    'policies/g-json.ts',
    "import x from '../lib/comments.json'\nexport default x\n",
    `:2:1 ${LOAD}lib/comments.json: Expected property name or '}' in JSON at position 2${PLACE_IN_JSON}`,
  ],
  ['policies/h-rejects.ts', "await Promise.reject(new Error('late'))\n", `:2:22 ${LOAD}late`],
  ['policies/h-null.ts', 'throw null\n', `:1:1 ${LOAD}it throws null, which is no error`],
  ['policies/h-text.ts', "throw 'text'\n", `:1:1 ${LOAD}it throws "text", which is no error`],
  ['policies/h-silent.ts', '\nthrow new TypeError()\n', `:3:7 ${LOAD}it throws TypeError without a message`],
  ['policies/jsx.tsx', '', ':1:1 a plugin is no JSX: end its name in .ts or .js'],
  [
    'middlewares/empty.ts',
    'export default defineMiddleware({})\n',
    `:2:30 ${LOAD}defineMiddleware(…) wraps nothing: it needs a function route, resolver, express`,
  ],
  [
    'middlewares/function.ts',
    'export default defineMiddleware((async () => {}) as never)\n',
    `:2:30 ${LOAD}defineMiddleware(…) takes an object with route, resolver, express, found a function`,
  ],
  [
    'extensions/list.ts',
    'export default defineExtension([] as never)\n',
    `:2:29 ${LOAD}defineExtension(…) takes an object with register, bootstrap, destroy, found a list`,
  ],
  [
    'extensions/number.ts',
    'export default defineExtension({ register: 5 } as never)\n',
    `:2:29 ${LOAD}\`register\` of defineExtension(…) must be a function, found a number`,
  ],
]

test('each faulty file is reported with its line and what to do', async t => {
  const files = FILES.map(([file, text]) => {
    const isBare = file.endsWith('.cjs') || text === '' || file.includes('h-null')
    return [file, (isBare ? '' : IMPORT) + text] as const
  })
  const folder = project(t, { ...Object.fromEntries(files), 'lib/comments.json': '{ // why\n "a": 1 }\n' })
  const found = await faultsOf(folder)
  t.deepEqual(found.toSorted(), FILES.map(([file, , fault]) => file + fault).toSorted())
})

test('a fault in a module that a plugin imports is reported where it is', async t => {
  const user = (name: string) =>
    `${IMPORT}import { x } from '../lib/${name}.ts'\nexport default definePolicy(() => x)\n`
  const folder = project(t, {
    'policies/circular.ts': `import { x } from '../lib/circular.ts'\nexport const one = 1\nexport default x\n`,
    'lib/circular.ts': "import { one } from '../policies/circular.ts'\nexport const x = one.toFixed()\n",
    ...Object.fromEntries(['package', 'syntax', 'throws'].map(name => [`policies/${name}.ts`, user(name)])),
    'lib/package.ts': "\n\nimport y from 'leftpad-none'\nexport const x = y\n",
    'lib/syntax.ts': '\n\nexport const x = ]\n',
    'lib/throws.ts': "\nthrow new Error('deep')\nexport const x = 1\n",
  })
  const why = (name: string) => `policies/${name}.ts imports this, and it cannot be loaded:`
  t.deepEqual(await faultsOf(folder), [
    `lib/circular.ts:2:1 ${why('circular')} Cannot read properties of undefined (reading 'toFixed')`,
    `lib/package.ts:3:1 ${why('package')} Cannot find module 'leftpad-none': install it with \`npm install leftpad-none\``,
    `lib/syntax.ts:3:18 ${why('syntax')} Unexpected token`,
    `lib/throws.ts:2:7 ${why('throws')} deep`,
  ])
})

test('files that cannot be read are reported, and those with a mark, with `export =` or of megabytes are loaded', async t => {
  const folder = project(t, {
    'policies/mark.ts': `\ufeff${GOOD}`,
    'policies/assigned.ts': `${IMPORT}export = definePolicy(() => true)\n`,
    'policies/huge.ts': `${GOOD}${'// A long comment.\n'.repeat(100_000)}`,
    'policies/Mark.ts': GOOD,
  })
  const link = (target: string, name: string) => symlinkSync(target, join(folder.path, 'policies', name))
  link('loop.ts', 'loop.ts')
  link('gone.ts', 'lost.ts')
  link('..', 'around')
  t.deepEqual(await faultsOf(folder), [
    'policies/around:1:1 a symbolic link to a folder is not followed: move the modules here',
    "policies/Mark.ts:1:1 `Mark` is no name for a policy: it is the file's, in small letters and hyphens, such as `has-role.ts`; what several modules share lies outside policies/",
    `policies/loop.ts:1:1 ${LOAD}it is a symbolic link that leads back to itself`,
    `policies/lost.ts:1:1 ${LOAD}it is a symbolic link to a file that does not exist, or was removed while it was read`,
  ])
})

/** A form of a middleware, and what a start says. */
const MIDDLEWARE_FORMS: readonly (readonly [string, string])[] = [
  ["() => { throw new Error('no options') }", 'failed: no options'],
  ["() => { throw 'text' }", 'failed: text, which is no error: throw new Error(…)'],
  ['() => {}', 'must return a function, found undefined'],
  ['async () => async () => {}', 'must return a function, found a promise: it must not be async'],
  [
    'async (_context: object, next: () => void) => next()',
    'must return a function, found a promise: it must not be async',
  ],
]

test('a middleware whose form throws or makes no function is reported by its module and form', async t => {
  for (const form of ['route', 'resolver', 'express'])
    for (const [body, message] of MIDDLEWARE_FORMS) {
      const folder = project(t, {
        'middlewares/form.ts': `${IMPORT}export default defineMiddleware({ ${form}: (${body}) as never })\n`,
      })
      folder.write('project.yaml', PROJECT + USES[form])
      const line = message === 'failed: no options' ? 2 : 1
      const [fault] = await faultsOf(folder)
      const expected =
        form === 'resolver'
          ? `project.yaml:4:20 \`Query.notes\`: middlewares/form: \`resolver\` ${message} (resolversConfig["Query.notes"])`
          : `middlewares/form.ts:${line}:1 middlewares/form: \`${form}\` ${message}`
      t.is(fault, expected)
    }
})

const USES: Readonly<Record<string, string>> = {
  route: 'routesConfig: { note.find: { middlewares: [form] } }\n',
  resolver: 'resolversConfig: { Query.notes: { middlewares: [form] } }\n',
  express: 'middlewares: [form]\n',
}

const extension = (body: string) =>
  `${IMPORT}export default defineExtension({\n  register({ rest, documents, graphql, media, app }: any) {\n    ${body}\n  },\n})\n`

const REGISTER: readonly (readonly [string, string])[] = [
  ['throw null', 'null, which is no error: throw new Error(…)'],
  ["throw new Error('')", 'Error'],
  ["rest.rute('GET', '/x', () => 1)", '`rest` has no `rute`: did you mean `route`?'],
  ["documents.onn('note.create', () => 1)", '`documents` has no `onn`: did you mean `on`?'],
  ['media.register("x", {})', '`media` has no `register`: one of `registerStorage`'],
  ['graphql.shadowCrud("api::note.note")', '`graphql` has no `shadowCrud`: did you mean `shadowCRUD`?'],
  [
    'graphql.shadowCRUD("api::note.note").disableQuery()',
    '`graphql.shadowCRUD(…)` has no `disableQuery`: did you mean `disableQueries`?',
  ],
  [
    'graphql.shadowCRUD("api::note.note").field("text").disableFilter()',
    '`graphql.shadowCRUD(…).field(…)` has no `disableFilter`: did you mean `disableFilters`?',
  ],
  ['app.log.warning("x")', '`app.log` has no `warning`: one of `info`, `warn`, `error`'],
  ['app.document("note")', '`app` has no `document`: did you mean `documents`?'],
  ["rest.route('get', '/x', () => 1)", 'no route can have the method get: did you mean `GET`?'],
  ["rest.route('GET', 'x', () => 1)", '`x` is no path such as /restaurants/:documentId/menu'],
  [
    "rest.route('GET', '/x', () => 1, null)",
    'the options of GET /x are an object with auth, policies, middlewares, replaces, found null',
  ],
  ["rest.route('GET', '/x', () => 1, { policies: 'a' })", 'policies of GET /x is a list, found a string'],
  [
    "rest.route('GET', '/x', () => 1, { auth: 'public' })",
    'auth of GET /x is false, or { scope: [...] }, found a string',
  ],
  [
    "rest.route('GET', '/x', () => 1, { auth: { scope: 'api::note.note.find' } })",
    'scope of GET /x is a list of permissions such as api::article.article.find',
  ],
  [
    "rest.mount('/x', () => 1, { auth: true })",
    "auth of mount('/x', …) is false, or { scope: [...] }, found a boolean",
  ],
  ["documents.on('note.publsh', () => 1)", 'unknown event `note.publsh`: did you mean `note.publish`?'],
  [
    "graphql.shadowCRUD('api::nte.nte').disable()",
    'unknown content-type `api::nte.nte`: did you mean `api::note.note`?',
  ],
  ['media.registerStorage("x")', 'registerStorage(…) takes a name and an object with `open`'],
]

test('each faulty registration is reported with its line', async t => {
  const files = REGISTER.map(([body], at) => [`extensions/e${at + 10}.ts`, extension(body)])
  const found = await faultsOf(project(t, Object.fromEntries(files)))
  const expected = REGISTER.map(([, message], at) => {
    const name = `extensions/e${at + 10}`
    return `${name}.ts:${message.startsWith('null') ? 1 : 4}:1 ${name} could not register: ${message}`
  })
  t.deepEqual(found, expected)
})

test('a wrong name of an import is reported as the code has it', async t => {
  const calls = "import { nothing } from '../lib/some.ts'\nimport { defineExtension } from 'plinth'\n"
  const folder = project(t, {
    'extensions/own.ts': `${calls}export default defineExtension({ register: () => nothing() })\n`,
    'lib/some.ts': 'export const some = 1\n',
  })
  t.deepEqual(await faultsOf(folder), [
    'extensions/own.ts:3:1 extensions/own could not register: `nothing` is not a function',
  ])
  folder.write(
    'extensions/own.ts',
    "import { createTestApp } from 'plinth/test'\nexport default createTestApp()\n",
  )
  t.deepEqual(await faultsOf(folder), [
    `extensions/own.ts:1:1 ${LOAD}Cannot find module 'plinth/test': there are \`plinth\` and \`plinth/testing\``,
  ])
})

test('plugins outside of the three folders are reported, other modules there are not', async t => {
  const folder = project(t, {
    'policy/own.ts': GOOD,
    'src/policies/own.ts': GOOD,
    'Policies/own.ts': GOOD,
    'Policies/helper.ts': 'export const help = 1\n',
    'extension/lib.ts': 'export default 1\n',
    'src/policies/compiled.ts': GOOD,
    'policies/compiled.js': GOOD,
  })
  const message = 'this policy is not loaded: move it into policies/, next to project.yaml'
  t.deepEqual(await faultsOf(folder), [
    `Policies/own.ts:1:1 ${message}`,
    `policy/own.ts:1:1 ${message}`,
    `src/policies/own.ts:1:1 ${message}`,
  ])
})

test('a fault of a registration does not hide those of the calls behind it', async t => {
  const folder = project(t, {
    'extensions/own.ts': extension(`rest.route('get', '/x', () => 1)
    rest.mount('x', () => 1)
    documents.use('text')
    documents.on('note.publsh', () => 1)
    media.registerStorage('x')
    rest.rute('GET', '/x', () => 1)
    rest.route('gone', '/x', () => 1)`),
  })
  const why = (line: number) => `extensions/own.ts:${line}:1 extensions/own could not register:`
  t.deepEqual(await faultsOf(folder), [
    `${why(4)} no route can have the method get: did you mean \`GET\`?`,
    `${why(5)} \`x\` is no path of a router such as /shop`,
    `${why(6)} documents.use(…) takes a function`,
    `${why(7)} unknown event \`note.publsh\`: did you mean \`note.publish\`?`,
    `${why(8)} registerStorage(…) takes a name and an object with \`open\``,
    `${why(9)} \`rest\` has no \`rute\`: did you mean \`route\`?`,
  ])
})

for (const [hook, load, message, reports] of [
  [
    'an await at the top',
    `${IMPORT}await new Promise(() => {})\n`,
    `extensions/slow.ts:1:1 ${LOAD}it took longer than 60 s`,
    ['extensions/slow.ts is still being loaded: an await at its top may never end'],
  ],
  [
    'register',
    `${IMPORT}export default defineExtension({ register: () => new Promise(() => {}) })\n`,
    'extensions/slow.ts:1:1 extensions/slow could not register: it took longer than 60 s',
    [],
  ],
] as const)
  test.serial(
    `${hook} that never ends is named after a few seconds, and reported after a minute`,
    async t => {
      const folder = project(t, { 'extensions/slow.ts': load })
      mock.timers.enable({ apis: ['setInterval'] })
      t.teardown(() => mock.timers.reset())
      let found: readonly string[] | undefined
      const reported: string[] = []
      const checking = faultsOf(folder, message => reported.push(message)).then(faults => {
        found = faults
      })
      while (found === undefined) {
        await new Promise(resolve => setImmediate(resolve))
        mock.timers.tick(1_000)
      }
      await checking
      t.deepEqual(found, [message])
      // A mocked interval goes on although its own callback clears it.
      t.deepEqual([...new Set(reported)], reports)
    },
  )

const NOT_JSON: Readonly<Record<string, readonly [string, string]>> = {
  bigint: ['() => ({ a: [1n] })', 'got what is no JSON: Do not know how to serialize a BigInt'],
  circular: [
    '() => { const a = {}; a.a = a; return a }',
    'got what is no JSON: Converting circular structure',
  ],
  stream: ["() => Readable.from(['abc'])", 'got a stream: read it, or answer from an Express router'],
  web: ['() => new ReadableStream()', 'got a stream'],
  bytes: ["() => Buffer.from('abc')", 'got bytes: use http.response.send(Buffer.from(bytes), { type })'],
  promise: [
    "({ app }) => ({ notes: app.documents('note').findMany() })",
    '(extensions/all) got, under `notes`, a promise: await it',
  ],
  promises: ['() => [1, 2].map(async each => each)', 'got, under `0`, a promise: await it'],
  documents: ["({ app }) => app.documents('note')", '(extensions/all) got an object of functions: call one'],
  action: [
    "({ app }) => ({ data: app.documents('note') })",
    'got, under `data`, an object of functions: call one, and await it',
  ],
  deep: ['() => ({ list: [{ names: new Set([1]) }] })', 'got, under `names`, a Set'],
  nested: ["() => ({ file: Buffer.from('abc') })", 'got, under `file`, bytes: use http.response.send'],
  typed: ['() => [{ file: new Uint8Array(2) }]', 'got, under `file`, bytes: use http.response.send'],
  failure: [
    "() => ({ error: Object.assign(new Error('x'), { code: 1 }) })",
    'got, under `error`, an Error: throw it',
  ],
  express: [
    '({ http }) => http.response.json({ a: 1 })',
    'http.response.json() reads the response: use http.response.send(value)',
  ],
  second: [
    '({ http }) => http.response.send({ a: 1 }, 201)',
    'the second argument of http.response.send(…) is an object with status, type, found a number',
  ],
  option: [
    '({ http }) => http.response.send({ a: 1 }, { code: 201 })',
    'has no key `code`; it may have status, type',
  ],
  koa: [
    'context => { context.body = { a: 1 } }',
    'context.body is of Koa: return the body, or use http.response.send(value)',
  ],
  koastatus: [
    'context => { context.status = 201; return {} }',
    'context.status is of Koa: use http.response.send(value, { status })',
  ],
  koaparams: ['({ params }) => params.id', 'context.params is of Koa: use args'],
  koarequest: ['ctx => ctx.request.body', 'context.request is of Koa: use http.request, and await'],
  koaset: ["ctx => ctx.set('X-A', 'b')", 'context.set is of Koa: use http.response.setHeader(name, value)'],
  koathrow: ['ctx => ctx.notFound()', 'context.notFound is of Koa: throw new NotFoundError(…)'],
  map: ["() => new Map([['a', 1]])", 'got a Map, which JSON does not have: use Object.fromEntries(map)'],
  set: ['() => new Set([1])', 'got a Set, which JSON does not have: use [...set]'],
  response: ["() => new Response('x')", 'got a Response'],
  blob: [
    "() => ({ file: new Blob(['x']) })",
    'got, under `file`, an object of the class Blob, of which JSON has nothing',
  ],
  regexp: ['() => /x/', 'got an object of the class RegExp, of which JSON has nothing: answer its values'],
  buffer: ['() => new ArrayBuffer(2)', 'got bytes: use http.response.send(Buffer.from(bytes), { type })'],
  error: ["() => new Error('x')", 'got an Error: throw it'],
  function: ['() => () => 1', 'got a function, which JSON does not have'],
  generator: ['function* () { yield 1 }', 'got a generator'],
  getter: ["() => ({ get a() { throw new Error('in a getter') } })", 'in a getter'],
  status: ['({ http }) => http.response.send({}, { status: 101 })', 'from 200 to 599, found 101'],
  word: ["({ http }) => { http.response.status = 'ok' }", 'from 200 to 599, found ok'],
  header: ["({ http }) => http.response.setHeader('x', 'a\\nb')", 'Invalid character in header content'],
  name: ["({ http }) => http.response.setHeader('a b', '1')", 'Header name must be a valid HTTP token'],
  length: [
    "({ http }) => http.response.setHeader('Content-Length', '1')",
    'Content-Length is set by the server',
  ],
  type: ["({ http }) => http.response.send('x', { type: 'a\\nb' })", 'Invalid character in header content'],
  nothing: ['() => { throw undefined }', ''],
}

const POLICIES: Readonly<Record<string, readonly [string, string]>> = {
  text: ["() => 'yes'", 'it answered a string'],
  nothing: ['() => null', 'it answered null'],
  rejects: ["() => Promise.reject(new Error('no'))", 'no'],
  throws: ['() => { throw null }', 'it threw null, which is no error'],
  args: ["context => { context.args.documentId = 'x' }", 'Cannot add property documentId'],
  state: ['context => { context.state = { user: null } }', 'Cannot set property state'],
  typo: ['context => context.user.id', 'it threw `context` has no `user`: one of `kind`, `app`'],
  name: [
    "({ app }) => app.documents('nots').findMany()",
    'it threw There is no content-type nots: did you mean `note`?',
  ],
}

const MIDDLEWARES: Readonly<Record<string, readonly [number, string, string]>> = {
  never: [500, '() => {}', 'neither called next() nor sent anything'],
  twice: [
    500,
    'async (context, next) => { await next(); await next() }',
    'the middleware m-twice called next() twice',
  ],
  throws: [500, '() => { throw null }', 'failed unexpectedly'],
  body: [
    500,
    'async (context, next) => { await next(); context.http.response.body = { a: 1 } }',
    'http.response.body cannot be assigned: use http.response.send(value)',
  ],
  headers: [
    500,
    "async ({ http }, next) => { await next(); http.response.headers = { 'x-a': '1' } }",
    'Cannot add property headers, object is not extensible',
  ],
  response: [
    500,
    'async (context, next) => { await next(); context.http.response = {} }',
    'Cannot assign to read only property',
  ],
  path: [
    500,
    "({ http }, next) => { http.request.path = '/x'; return next() }",
    'Cannot assign to read only property',
  ],
  sends: [
    200,
    "async (context, next) => { await next(); setTimeout(() => context.http.response.send('late'), 1) }",
    'GET /m/sends: http.response.send after the response was sent has no effect: await all work',
  ],
  late: [
    200,
    "(context, next) => { setTimeout(next, 1); context.http.response.send('ok') }",
    'the middleware m-late called next() after it had ended',
  ],
}

test('code that misbehaves in a request is answered and logged, and the server goes on', async t => {
  const define = (kind: string, code: string) => `${IMPORT}export default define${kind}(${code})\n`
  const routes = (
    from: string,
    names: Readonly<Record<string, unknown>>,
    options: (name: string) => string,
  ) => Object.keys(names).map(name => `rest.route('GET', '/${from}/${name}', () => 'ok', ${options(name)})`)
  const handlers = Object.entries(NOT_JSON).map(
    ([name, [handler]]) => `rest.route('GET', '/h/${name}', ${handler}, { auth: false })`,
  )
  const app = await openTestApp(t, {
    project: project(t, {
      ...Object.fromEntries(
        Object.entries(POLICIES).map(([name, [code]]) => [`policies/p-${name}.ts`, define('Policy', code)]),
      ),
      ...Object.fromEntries(
        Object.entries(MIDDLEWARES).map(([name, [, code]]) => [
          `middlewares/m-${name}.ts`,
          define('Middleware', `{ route: () => ${code} }`),
        ]),
      ),
      'extensions/all.ts': `import { Readable } from 'node:stream'\n${extension(
        [
          ...handlers,
          ...routes('p', POLICIES, name => `{ auth: false, policies: ['p-${name}'] }`),
          ...routes('m', MIDDLEWARES, name => `{ auth: false, middlewares: ['m-${name}'] }`),
        ].join('\n    '),
      )}`,
    }).path,
    listen: true,
  })
  const expect = async (path: string, status: number, line: string) => {
    const before = app.log().length
    const answer = await fetch(`${app.url}/api${path}`)
    await answer.arrayBuffer()
    t.is(answer.status, status, path)
    while (app.log().length === before) await new Promise(resolve => setImmediate(resolve))
    const logged = app
      .log()
      .slice(before)
      .map(text => JSON.stringify(JSON.parse(text)).replaceAll('\\"', '"'))
    t.true(
      logged.some(each => each.includes(line)),
      `${path}: ${line}\n${logged.join('\n')}`,
    )
  }
  for (const [name, [, line]] of Object.entries(NOT_JSON)) await expect(`/h/${name}`, 500, line)
  for (const [name, [, line]] of Object.entries(POLICIES)) await expect(`/p/${name}`, 403, line)
  for (const [name, [status, , line]] of Object.entries(MIDDLEWARES)) await expect(`/m/${name}`, status, line)
})

test('a response that is wrong, and SQL that fails after its code has returned, name the line of the route', async t => {
  const app = await openTestApp(t, {
    project: project(t, {
      'extensions/all.ts': extension(`
        rest.route('GET', '/sql', ({ app }) => app.sequelize.query('SELECT nothing FROM nowhere'), { auth: false })
        rest.route('GET', '/lost', ({ app }) => ({ notes: app.documents('note').findMany() }), { auth: false })`),
    }).path,
  })
  const message = async (path: string) =>
    ((await app.request('GET', `/api/${path}`)).body as { error: { message: string } }).error.message
  t.regex(await message('sql'), /relation "nowhere" does not exist \(at extensions\/all\.ts:5\)$/)
  t.regex(await message('lost'), /under `notes`, a promise: await it \(at extensions\/all\.ts:6\)$/)
})

test('a response has the type that code sets as a header, once, and errors keep theirs', async t => {
  const app = await openTestApp(t, {
    project: project(t, {
      'extensions/all.ts': extension(`
        const csv = status => ({ http }) => { http.response.setHeader('content-type', 'text/csv'); if (status) throw new Error('x'); return 1 }
        rest.route('GET', '/csv', csv(0), { auth: false })
        rest.route('GET', '/fails', csv(500), { auth: false })
        rest.route('GET', '/date', () => new Date(0), { auth: false })`),
    }).path,
    listen: true,
  })
  const type = async (path: string) => (await fetch(`${app.url}/api${path}`)).headers.get('content-type')
  t.is(await type('/csv'), 'text/csv')
  t.is(await type('/fails'), 'application/json; charset=utf-8')
  t.is((await app.request('GET', '/api/date')).body, '1970-01-01T00:00:00.000Z')
})

test('a response whose status has no body has none, and no length; an ETag that code sets is sent and compared', async t => {
  const app = await openTestApp(t, {
    project: project(t, {
      'extensions/all.ts': extension(`
        rest.route('GET', '/value', ({ http }) => { http.response.status = 204; return { a: 1 } }, { auth: false })
        rest.route('GET', '/reset', ({ http }) => { http.response.status = 205; return { a: 1 } }, { auth: false })
        rest.route('GET', '/send', ({ http }) => { http.response.send({ a: 1 }, { status: 204 }) }, { auth: false })
        rest.route('GET', '/tag', ({ http }) => { http.response.setHeader('etag', '"mine"'); return 1 }, { auth: false })`),
    }).path,
  })
  for (const [path, status] of [
    ['value', 204],
    ['reset', 205],
  ] as const) {
    const answer = await app.request('GET', `/api/${path}`)
    t.is(answer.status, status)
    t.falsy(answer.body)
    t.false(Number(answer.headers['content-length'] ?? 0) > 0)
    t.is(answer.headers['content-type'], undefined)
  }
  const sent = await app.request('GET', '/api/send')
  t.is(sent.status, 500)
  t.regex(JSON.stringify(sent.body), /a response with the status 204 has no body/)
  t.is((await app.request('GET', '/api/tag')).headers.etag, '"mine"')
  const headers = { 'if-none-match': 'W/"mine"' }
  t.is((await app.request('GET', '/api/tag', { headers })).status, 304)
})

test('a resolver that assigns a status or a body of the response gets an error instead of no effect', async t => {
  const app = await openTestApp(t, {
    project: project(t, {
      'extensions/all.ts': `${IMPORT}export default defineExtension({ register({ graphql }) { graphql.use({
        typeDefs: 'extend type Query { status: Int body: Int path: Int }',
        resolvers: { Query: {
          status: (parent, args, { http }) => { http.response.status = 404; return 1 },
          body: (parent, args, { http }) => { http.response.body = 'x'; return 1 },
          path: (parent, args, { http }) => { http.request.path = '/x'; return 1 },
        } },
        resolversConfig: { 'Query.status': { auth: false }, 'Query.body': { auth: false }, 'Query.path': { auth: false } },
      }) } })\n`,
    }).path,
  })
  for (const [field, message] of [
    ['status', 'a GraphQL operation is answered by its resolvers: http.response.status is for routes'],
    ['body', 'a GraphQL operation is answered by its resolvers: http.response.body is for routes'],
    ['path', "Cannot assign to read only property 'path' of object '#<Object>'"],
  ] as const) {
    const { data, errors } = await app.graphql(`{ ${field} }`)
    t.deepEqual(data, { [field]: null })
    const seen = [JSON.stringify(errors), ...app.log()].join('\n')
    t.true(seen.includes(message), seen)
  }
})
