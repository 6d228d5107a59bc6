import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { checkApp } from '../../core/app/check-app.ts'
import { toPlural } from '../../core/model/names.ts'
import { readProject } from '../../core/project/load-project.ts'
import type { Settings } from '../../core/project/settings/settings.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { recorded, runImport, strapiProject, type } from './import.ts'

/** The result of `plinth check` for a folder: its settings, and every fault. */
async function check(folder: string): Promise<{ settings: Settings | undefined; faults: readonly string[] }> {
  const { project, faults } = await readProject(folder, {})
  const checked = project === undefined ? undefined : await checkApp({})(project)
  const more = checked === undefined || checked.ok ? [] : checked.reasons
  return { settings: project?.settings, faults: [...faults, ...more].map(({ message }) => message) }
}

/** With the plurals that a file may leave to Plinth. */
const typesOf = (settings: Settings | undefined) =>
  Object.fromEntries(
    Object.entries(settings?.contentTypes ?? {}).map(([key, declared]) => [
      key,
      { ...declared, pluralApiId: declared.pluralApiId ?? toPlural(key) },
    ]),
  )

for (const version of [4, 5] as const) {
  test(`a Strapi ${version} project becomes an equivalent model`, async t => {
    const out = temporaryFolder()
    t.teardown(out.remove)
    t.is((await runImport({ dir: recorded(version), out: out.path })).code, 0)
    const ours = await check(out.path)
    const theirs = await check(join(import.meta.dirname, '../conformance/project'))
    t.deepEqual(ours.faults, [])
    t.deepEqual(typesOf(ours.settings), typesOf(theirs.settings))
    const attributes = (settings: Settings | undefined) =>
      Object.fromEntries(
        Object.entries(settings?.components ?? {}).map(([uid, each]) => [uid, each.attributes]),
      )
    t.deepEqual(attributes(ours.settings), attributes(theirs.settings))
    t.false(ours.settings?.graphql.enabled)
    t.is(ours.settings?.auth.jwtExpiresIn, 7 * 24 * 60 * 60 * 1000)
  })
}

test('settings without a counterpart are reported next to the imported ones, and the file loads', async t => {
  const strapi = strapiProject(SHOP)
  t.teardown(strapi.remove)
  const out = join(strapi.path, 'plinth')
  const { code, out: report } = await runImport({ dir: strapi.path, out })
  t.is(code, 0)
  const yaml = readFileSync(join(out, 'project.yaml'), 'utf8')
  const golden = join(import.meta.dirname, 'shop.yaml')
  if (process.env.UPDATE_GOLDEN) writeFileSync(golden, yaml)
  t.is(yaml, readFileSync(golden, 'utf8'))
  t.deepEqual((await check(out)).faults, [])
  t.regex(report, /2 content-types and 1 component of a Strapi 5 project/)
  t.regex(
    report,
    /`file` in Strapi: .* \(src\/api\/file\/content-types\/file\/schema\.json:1 → project\.yaml:33\)/,
  )
  t.regex(report, /Lost content or access:\n {2}what controllers, policies/)
  t.regex(
    report,
    /Code to rewrite:\n {2}1 lifecycle: .* \(src\/api\/product\/content-types\/product\/lifecycles\.ts\)/,
  )
  t.true(report.indexOf('Code to rewrite') < report.indexOf('Remarks:'))
  t.true(report.split('\n').length < 50)
})

test('the fallback of a variable is written as YAML text, whatever it contains', async t => {
  const strapi = strapiProject({
    'config/server.js': `module.exports = ({ env }) => ({ host: env('HOST', 'C\\\\x"y"#z'), url: env('URL', 'https://a\\n- b') })`,
    'config/plugins.js': `module.exports = ({ env }) => ({ email: { config: { settings: { defaultFrom: env('FROM', 'C:\\\\x "y" #z <shop@example.org>') } } } })`,
    ...type('note', { title: { type: 'string' } }),
  })
  t.teardown(strapi.remove)
  const out = join(strapi.path, 'plinth')
  const { code, complaint } = await runImport({ dir: strapi.path, out })
  t.is(complaint, '')
  t.is(code, 0)
  const { settings, faults } = await check(out)
  t.deepEqual(faults, [])
  t.is(settings?.server.host, 'C\\x"y"#z')
  t.is(settings?.auth.mail?.from, 'C:\\x "y" #z <shop@example.org>')
})

/** A TypeScript project that uses what Plinth has not. */
const SHOP = {
  'config/server.ts':
    "export default ({ env }) => ({ host: env('HOST', '127.0.0.1'), port: env.int('PORT', 8080), url: env('PUBLIC_URL', 'https://shop.example'), proxy: env.bool('IS_PROXIED', true), app: { keys: env.array('KEYS') } })",
  'config/api.ts':
    "import type { Core } from '@strapi/strapi';\nconst config: Core.Config.Api = {\n  rest: { prefix: '/v1', defaultLimit: 10, maxLimit: 50, withCount: true },\n  responses: { privateAttributes: ['createdAt', 'cost'] },\n};\n\nexport default config;\n",
  'config/plugins.ts':
    "export default () => ({ graphql: { enabled: true, config: { depthLimit: 7, amountLimit: 100, apolloServer: { tracing: false } } }, upload: { config: { provider: 'cloudinary', sizeLimit: 1000000 * factor } }, 'users-permissions': { config: { register: { allowedFields: ['nickname'] } } } })",
  'config/middlewares.ts':
    "export default ['strapi::errors', { name: 'strapi::cors', config: { origin: ['https://shop.example/'] } }, 'global::trace']",
  'package.json': {
    name: 'Corner shop: "best"',
    dependencies: {
      '@strapi/strapi': '^5.1.0',
      '@strapi/plugin-users-permissions': '^5.1.0',
      '@strapi/plugin-graphql': '^5.1.0',
      'strapi-plugin-menus': '1.0.0',
    },
  },
  ...type(
    'product',
    {
      title: { type: 'string', required: true, unique: true, regex: '^(', maxLength: 80 },
      greeting: { type: 'string', default: 'Dear ${name}: #1' },
      cost: { type: 'decimal', min: '1', default: '2.5' },
      stock: { type: 'integer', default: 5, min: 10 },
      anything: { type: 'relation', relation: 'morphToMany' },
      buyer: { type: 'relation', relation: 'manyToOne', target: 'admin::user' },
      colour: { type: 'customField', customField: 'plugin::color-picker.color' },
      rare: { type: 'customField', customField: 'plugin::rare.rare', options: { a: 1 } },
      slug: { type: 'uid', targetField: 'nothing' },
      localizations: { type: 'json' },
      picture: { type: 'media', multiple: false, allowedTypes: ['images'] },
      parts: { type: 'component', component: 'Big_Parts.part', repeatable: true, min: 1 },
      zone: { type: 'dynamiczone', components: ['Big_Parts.part', 'gone.gone'] },
      bills: { type: 'relation', relation: 'oneToMany', target: 'api::file.file', mappedBy: 'products' },
    },
    { pluginOptions: { seo: { on: true } }, options: { draftAndPublish: true, populateCreatorFields: true } },
  ),
  ...type('file', {
    size: { type: 'enumeration', enum: ['small', 'LARGE', 'large', 'yes'], default: 'small' },
    owner: {
      type: 'relation',
      relation: 'manyToOne',
      target: 'plugin::users-permissions.user',
      inversedBy: 'files',
    },
  }),
  'src/components/Big_Parts/part.json': {
    collectionName: 'components_big_parts_parts',
    info: { displayName: 'Part' },
    attributes: { weight: { type: 'float', conditions: { visible: {} } } },
  },
  'src/extensions/users-permissions/content-types/user/schema.json': {
    collectionName: 'up_users',
    info: { singularName: 'user', pluralName: 'users' },
    attributes: {
      username: { type: 'string', required: true },
      nickname: { type: 'string' },
      files: { type: 'relation', relation: 'oneToMany', target: 'api::file.file', mappedBy: 'owner' },
    },
  },
  'src/api/product/controllers/product.ts':
    "import { factories } from '@strapi/strapi'\nexport default factories.createCoreController('api::product.product', () => ({ async find() { return [] } }))",
  'src/api/file/controllers/file.ts':
    "/**\n * file controller\n */\nimport { factories } from '@strapi/strapi'\n\nexport default factories.createCoreController('api::file.file');\n",
  'src/api/product/content-types/product/lifecycles.ts': 'export default { beforeCreate() {} }',
  'src/api/broken/content-types/broken/schema.json': '{ "kind": ',
  'src/index.ts':
    'export default {\n  /** nothing */\n  register(/* { strapi }: { strapi: Core.Strapi } */) {},\n\n  bootstrap(/* { strapi } */) {},\n};\n',
  'src/api/product/routes/product.ts':
    "import { factories } from '@strapi/strapi'\nexport default factories.createCoreRouter('api::product.product', { except: ['delete'], config: { find: { auth: false, middlewares: ['api::product.cache'] }, create: { policies: ['global::is-owner', { name: 'x' }] }, update: { auth: { scope: ['api::product.product.find'] } } } })",
  'config/env/production/server.ts': 'export default { port: 80 }',
  'src/policies/is-owner.ts': 'export default () => true',
}

test('limits of Strapi are converted, and long lists stay bounded by the size of the response', async t => {
  const limits = async (api: string, graphql: string) => {
    const strapi = strapiProject({
      ...SHOP,
      'config/api.ts': `export default { rest: ${api} }`,
      'config/plugins.ts': `export default () => ({ graphql: { config: ${graphql} } })`,
    })
    t.teardown(strapi.remove)
    const out = join(strapi.path, 'plinth')
    t.is((await runImport({ dir: strapi.path, out })).code, 0)
    const { settings } = await check(out)
    const { depthLimit, amountLimit, defaultLimit } = settings?.graphql.config ?? {}
    return { maxLimit: settings?.rest.maxLimit, depthLimit, amountLimit, defaultLimit }
  }
  t.deepEqual(await limits('{ maxLimit: -1 }', '{ depthLimit: 40, defaultLimit: 200, maxLimit: -1 }'), {
    ...{ maxLimit: 100_000, depthLimit: 40, amountLimit: 100_000, defaultLimit: 200 },
  })
  t.deepEqual(await limits('{ maxLimit: 3000 }', '{ amountLimit: 50, maxLimit: 500 }'), {
    ...{ maxLimit: 3000, depthLimit: 30, amountLimit: 500, defaultLimit: 10 },
  })
  // Without `maxLimit`, neither REST nor GraphQL of Strapi has one: front-ends ask for `limit: -1`.
  t.deepEqual(await limits('{ defaultLimit: 5 }', '{ defaultLimit: 200 }'), {
    ...{ maxLimit: 100_000, depthLimit: 30, amountLimit: 100_000, defaultLimit: 200 },
  })
  t.deepEqual(await limits('{}', '{ maxLimit: process.env.MOST }'), {
    ...{ maxLimit: 100_000, depthLimit: 30, amountLimit: 100_000, defaultLimit: 10 },
  })
})

test('a plugin for populate=deep becomes rest.populateDeep, with its depth', async t => {
  const depthOf = async (plugin: string, plugins = '{}') => {
    const strapi = strapiProject({
      ...type('note', { title: { type: 'string' } }),
      'package.json': JSON.stringify({ dependencies: { '@strapi/strapi': '4.25.0', [plugin]: '1.0.0' } }),
      'config/plugins.js': `module.exports = ${plugins}`,
    })
    t.teardown(strapi.remove)
    const out = join(strapi.path, 'plinth')
    const { out: report } = await runImport({ dir: strapi.path, out })
    t.notRegex(report, /without a counterpart/)
    const { settings, faults } = await check(out)
    t.deepEqual(faults, [])
    return settings?.rest.populateDeep
  }
  const plugin = 'strapi-plugin-populate-deep'
  const configured = (text: string) => `{ '${plugin}': { ${text} } }`
  t.is(await depthOf(plugin), 5)
  t.is(await depthOf(plugin, configured('enabled: true, config: { defaultDepth: 3 }')), 3)
  t.is(await depthOf(plugin, configured('enabled: false')), undefined)
  t.is(await depthOf('strapi-v5-plugin-populate-deep'), 5)
  t.is(await depthOf('lodash'), undefined)
})

test('answers that strapi-plugin-transformer flattened are flat, and what it did otherwise is reported', async t => {
  const importWith = async (transforms: string) => {
    const dependencies = { '@strapi/strapi': '4.25.0', 'strapi-plugin-transformer': '3.1.2' }
    const strapi = strapiProject({
      ...type('note', { title: { type: 'string' }, stamp: { type: 'string', writable: false } }),
      'package.json': JSON.stringify({ dependencies }),
      'config/plugins.js': `module.exports = { transformer: { enabled: true, config: { ${transforms} } } }`,
    })
    t.teardown(strapi.remove)
    const out = join(strapi.path, 'plinth')
    const { out: report } = await runImport({ dir: strapi.path, out })
    const { settings, faults } = await check(out)
    t.deepEqual(faults, [])
    t.like(settings?.contentTypes.note?.attributes.stamp, { writable: false })
    return { format: settings?.rest.responseFormat, report }
  }
  const flat = await importWith('responseTransforms: { removeAttributesKey: true, removeDataKey: true }')
  t.is(flat.format, 'v4-flat')
  t.notRegex(flat.report, /transformer/)
  const half = await importWith(
    'responseTransforms: { removeAttributesKey: true }, requestTransforms: { wrapBodyWithDataKey: true }',
  )
  t.is(half.format, 'v4')
  t.regex(half.report, /removed only `attributes` or only `data` from answers: .* \(config\/plugins\.js:1/)
  t.regex(half.report, /took bodies without `data`/)
})

test('settings in imported modules and in config/env/production are imported; computed ones are reported with their line', async t => {
  const strapi = strapiProject({
    'config/server.ts':
      "import { address } from './shared/address'\nexport default ({ env }) => ({ ...address(env), url: env('PUBLIC_URL') })",
    'config/shared/address.ts':
      "export const address = env => ({ host: '127.0.0.1', port: env.int('PORT', 4000) })",
    'config/api.js':
      "const { rest } = require('./limits')\nmodule.exports = { rest: { ...rest, defaultLimit: readLimit() } }",
    'config/limits.json':
      '\uFEFF{\r\n  // The front-end reads long lists.\r\n  "rest": { "maxLimit": 500, },\r\n}',
    'config/env/production/api.js': 'module.exports = { rest: { prefix: "/v2" } }',
    'config/env/staging/api.js': 'module.exports = {}',
    ...type('note', { title: { type: 'string' } }),
  })
  t.teardown(strapi.remove)
  const out = join(strapi.path, 'plinth')
  const { code, out: report } = await runImport({ dir: strapi.path, out })
  t.is(code, 0)
  const { settings, faults } = await check(out)
  t.deepEqual(faults, [])
  t.like(settings?.server, { host: '127.0.0.1', port: 4000, url: 'http://localhost:4000' })
  t.like(settings?.rest, { maxLimit: 500, prefix: '/v2', defaultLimit: 25 })
  t.regex(readFileSync(join(out, 'project.yaml'), 'utf8'), /url: "\$\{PUBLIC_URL:-/)
  t.regex(
    report,
    /`rest\.defaultLimit` was not read: .*`readLimit\(\)` \(config\/api\.js:2 → project\.yaml:28\)/,
  )
  t.regex(report, /config\/env\/staging\/ was not read/)
  t.regex(report, /config\/env\/production\/api\.js is imported/)
})

test('an existing project.yaml is kept unless --force is given', async t => {
  const strapi = strapiProject(type('page', { title: { type: 'string' } }))
  t.teardown(strapi.remove)
  strapi.write('project.yaml', 'name: Mine\n')
  const refused = await runImport({ dir: strapi.path, out: strapi.path })
  t.is(refused.code, 1)
  t.regex(refused.complaint, /project\.yaml is there already: .*--force/)
  t.is(readFileSync(join(strapi.path, 'project.yaml'), 'utf8'), 'name: Mine\n')
  t.is((await runImport({ dir: strapi.path, out: strapi.path, force: true })).code, 0)
  t.regex(readFileSync(join(strapi.path, 'project.yaml'), 'utf8'), /^name: shop\n/)
})

test('a target that cannot be written is reported before the import begins', async t => {
  const strapi = strapiProject(type('page', { title: { type: 'string' } }))
  t.teardown(strapi.remove)
  const [out, manifest] = [join(strapi.path, 'out'), join(strapi.path, 'package.json')]
  const why = async (more: Partial<Parameters<typeof runImport>[0]>) =>
    (await runImport({ dir: strapi.path, out, ...more })).complaint
  t.is(await why({ out: manifest }), `${manifest} is a file: --out names a folder\n`)
  const into = (file: string) => why({ content: { file } })
  t.is(await into(strapi.path), `${strapi.path} is a folder: name the file to write\n`)
  const nowhere = join(strapi.path, 'no', 'where')
  t.is(await into(nowhere), `There is no folder ${join(strapi.path, 'no')} for ${nowhere}\n`)
  t.is(await into(''), 'The file to write has no name\n')
  t.false(existsSync(out))
})

test('a folder without a Strapi project is refused with the list of expected files', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const out = join(folder.path, 'out')
  t.regex((await runImport({ dir: join(folder.path, 'none'), out })).complaint, /is not a folder/)
  t.regex((await runImport({ dir: folder.path, out })).complaint, /package\.json/)
  folder.write('package.json', JSON.stringify({ dependencies: { '@strapi/strapi': '3.6.8' } }))
  t.regex((await runImport({ dir: folder.path, out })).complaint, /not a Strapi 4 or 5 project/)
  folder.write('package.json', JSON.stringify({ workspaces: ['apps/*'] }))
  folder.write('apps/web/package.json', JSON.stringify({ dependencies: { next: '15.0.0' } }))
  folder.write('apps/cms/package.json', JSON.stringify({ dependencies: { '@strapi/strapi': '^5.12.0' } }))
  const { complaint } = await runImport({ dir: folder.path, out })
  t.regex(complaint, /names no `@strapi\/strapi` of these versions\. Did you mean `.*apps\/cms`\?\n$/)
  t.false(existsSync(out))
})

test('a version that pnpm keeps elsewhere is that of the installed package, also in a workspace', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const out = join(folder.path, 'out')
  folder.write('package.json', JSON.stringify({ dependencies: { '@strapi/strapi': 'catalog:' } }))
  t.regex((await runImport({ dir: folder.path, out })).complaint, /as `catalog:`, and node_modules has none/)
  folder.write('node_modules/@strapi/strapi/package.json', JSON.stringify({ version: '5.54.0' }))
  t.is((await runImport({ dir: folder.path, out })).code, 0)
  folder.write('apps/cms/package.json', JSON.stringify({ dependencies: { '@strapi/strapi': 'workspace:*' } }))
  t.is((await runImport({ dir: join(folder.path, 'apps/cms'), out, force: true })).code, 0)
})

test('a project imported from any schemas passes the checker', async t => {
  const random = randomFrom(20261121)
  for (let round = 0; round < 25; round++) {
    const strapi = strapiProject(randomProject(random))
    const out = join(strapi.path, 'plinth')
    const { code, complaint } = await runImport({ dir: strapi.path, out })
    t.is(code, 0, complaint)
    t.deepEqual((await check(out)).faults, [], readFileSync(join(out, 'project.yaml'), 'utf8'))
    strapi.remove()
  }
})

type Random = <Item>(...items: readonly Item[]) => Item

/** The same choices each time (a linear congruential generator). */
function randomFrom(seed: number): Random {
  let state = seed
  return <Item>(...items: readonly Item[]) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return items[(state >>> 8) % items.length] as Item
  }
}

const NAMES = [
  'role',
  'user',
  'blog-post',
  'query',
  'article',
  'series',
  'i18n',
  'a',
  'constructor',
  'file',
] as const
const FIELDS = [
  'id',
  'title',
  'fooBar',
  'foo_bar',
  'locale',
  'toString',
  'status',
  'and',
  'meta',
  'x1',
] as const
const TYPES = [
  'string',
  'text',
  'uid',
  'integer',
  'biginteger',
  'decimal',
  'boolean',
  'json',
  'enumeration',
] as const
const MORE = [
  'date',
  'time',
  'datetime',
  'blocks',
  'password',
  'media',
  'component',
  'relation',
  'odd',
] as const
const VALUES = [
  undefined,
  undefined,
  undefined,
  null,
  0,
  7,
  -3,
  '7',
  'x',
  '',
  true,
  [],
  { a: '${b}' },
  '2024-02-30',
]

function randomProject(random: Random): Record<string, Record<string, unknown>> {
  const files: Record<string, Record<string, unknown>> = {
    'src/components/shared/part.json': { attributes: randomAttributes(random) },
  }
  for (let count = random(1, 2, 3, 4); count > 0; count--) {
    const localized = random(true, false)
    Object.assign(
      files,
      type(random(...NAMES), randomAttributes(random), {
        kind: random('collectionType', 'singleType'),
        options: { draftAndPublish: random(true, false) },
        pluginOptions: { i18n: { localized } },
      }),
    )
  }
  return files
}

function randomAttributes(random: Random): Record<string, Record<string, unknown>> {
  const attributes: Record<string, Record<string, unknown>> = {}
  for (let count = random(0, 2, 5, 8); count > 0; count--)
    attributes[random(...FIELDS)] = randomAttribute(random)
  return attributes
}

const randomAttribute = (random: Random): Record<string, unknown> => ({
  type: random<string>(...TYPES, ...MORE),
  enum: random(['a', 'b'], ['a', 'A'], ['on', 'no'], []),
  component: random('shared.part', 'shared.none'),
  relation: random('oneToOne', 'oneToMany', 'manyToOne', 'manyToMany', 'morphToOne'),
  target: `api::${random(...NAMES)}.${random(...NAMES)}`,
  ...(random(true, false) && { [random('inversedBy', 'mappedBy')]: random(...FIELDS) }),
  targetField: random(undefined, ...FIELDS),
  required: random(true, false, undefined),
  unique: random(true, false, undefined),
  private: random(true, false),
  repeatable: random(true, false),
  pluginOptions: { i18n: { localized: random(true, false) } },
  min: random<unknown>(...VALUES),
  max: random<unknown>(...VALUES),
  minLength: random<unknown>(...VALUES),
  regex: random(undefined, '^a', '(', '\\d{2}'),
  default: random<unknown>(...VALUES),
})

test('permissions of deleted types and of roles are no lost access, and forms with files are named', async t => {
  const actions = ['note.note.create', 'note.note.archive', 'gone.gone.find'].map(each => `api::${each}`)
  const permissions = [...actions, 'plugin::users-permissions.role.createRole'].map(action => ({ action }))
  const folder = strapiProject({
    ...type('note', { picture: { type: 'media' } }),
    'package.json': JSON.stringify({
      dependencies: {
        '@strapi/strapi': '4.25.0',
        '@strapi/plugin-users-permissions': '4.25.0',
        'strapi-plugin-config-sync': '1.2.0',
      },
    }),
    'config/sync/user-role.editor.json': { name: 'Editor', type: 'editor', permissions },
  })
  t.teardown(folder.remove)
  const { out } = await runImport({ dir: folder.path, out: folder.path })
  const [, lost = '', remarks = ''] = out.split('\n\n')
  t.regex(lost, /^Lost content or access:\n {2}`api::note\.note\.archive` did not come over: .*`auth`/)
  t.notRegex(lost, /gone|createRole/)
  t.regex(remarks, /`api::gone\.gone\.find`: the project has no such content-type/)
  t.regex(remarks, /`plugin::users-permissions\.role\.createRole`: roles are declared here/)
  t.regex(
    remarks,
    /forms that create or change documents with files \(`files\.cover`\) need `upload: \[upload\]`/,
  )
  t.notRegex(out, /without a counterpart/)
})

test('a role that uploads files may change them, as in Strapi, with a remark', async t => {
  const { settings, report } = await imported(t, {
    ...type('note', { title: { type: 'string' } }),
    'config/sync/user-role.authenticated.json': {
      name: 'Authenticated',
      type: 'authenticated',
      permissions: [{ action: 'api::note.note.find' }],
    },
    'config/sync/user-role.editor.json': {
      name: 'Editor',
      type: 'editor',
      permissions: [{ action: 'plugin::upload.content-api.upload' }],
    },
  })
  t.deepEqual(settings?.roles.editor?.permissions.upload, { update: true, upload: true })
  t.regex(report, /`upload: \[update\]`: in Strapi this role can change any file/)
  t.regex(report, /put files into any document \(`ref`\), which needs `update` of that document here/)
})

test('without a database, roles, locales and sign-in come from the files of config-sync', async t => {
  const folder = strapiProject({
    ...type('note', { title: { type: 'string' } }, { pluginOptions: { i18n: { localized: true } } }),
    'config/sync/user-role.public.json': {
      name: 'Public',
      type: 'public',
      permissions: [{ action: 'api::note.note.find' }, { action: 'api::note.note.findOne' }],
    },
    'config/sync/user-role.editor.json': {
      name: 'Editor',
      type: 'editor',
      permissions: [{ action: 'api::note.note.create' }, { action: 'api::note.note.publish' }],
    },
    'config/sync/i18n-locale.en.json': { code: 'en', name: 'English (en)' },
    'config/sync/i18n-locale.ru.json': { code: 'ru', name: 'Russian (ru)' },
    'config/sync/core-store.plugin_i18n_default_locale.json': { value: 'ru' },
    'config/sync/core-store.plugin_users-permissions_advanced.json': { value: { allow_register: false } },
    'config/sync/core-store.plugin_users-permissions_grant.json': {
      value: { email: { enabled: true }, google: { enabled: true }, github: { enabled: false } },
    },
    'config/sync/core-store.plugin_users-permissions_email.json': {
      value: { reset_password: { options: { message: '<p>Our own text</p>' } } },
    },
    'config/sync/core-store.plugin_content_manager_configuration.json': '{ this is not read',
  })
  t.teardown(folder.remove)
  const { code, complaint, out } = await runImport({ dir: folder.path, out: folder.path })
  t.is(code, 0, complaint)
  t.regex(out, /users sign in at `google` in Strapi/)
  t.regex(out, /the texts of the account mails `reset_password` did not come over/)
  const { project, faults } = await readProject(folder.path, {})
  t.deepEqual(faults, [])
  t.deepEqual(
    project?.settings.i18n.locales.map(({ code: locale }) => locale),
    ['en', 'ru'],
  )
  t.is(project?.settings.i18n.defaultLocale, 'ru')
  // Their numbers are those of Strapi.
  t.deepEqual(Object.keys(project?.settings.roles ?? {}), ['authenticated', 'public', 'editor'])
  t.false(project?.settings.auth.register.enabled)
  const file = readFileSync(join(folder.path, 'project.yaml'), 'utf8')
  t.regex(file, /public:\n {4}permissions:\n {6}note: \[find, findOne\]/)
  t.regex(file, /\n {6}note: \[create\]\n/)
  t.regex(file, /`api::note\.note\.publish` did not come over/)
  t.notRegex(file, /Strapi keeps its locales in its database/)
})

test('settings of cron, security, CORS and mail are reported at their lines, computed ones too', async t => {
  const read = async (files: Readonly<Record<string, string>>) => {
    const strapi = strapiProject({ ...type('note', { title: { type: 'string' } }), ...files })
    t.teardown(strapi.remove)
    const out = join(strapi.path, 'plinth')
    const { code, out: report } = await runImport({ dir: strapi.path, out, json: true })
    t.is(code, 0)
    const { settings, faults } = await check(out)
    t.deepEqual(faults, [])
    const { remarks } = JSON.parse(report) as { remarks: { kind: string; text: string; source?: string }[] }
    return {
      from: settings?.auth.mail.from,
      cors: settings?.server.cors,
      remarks: remarks.map(({ kind, text, source }) => `${kind} ${source}: ${text}`),
    }
  }
  const has = (remarks: readonly string[], pattern: RegExp) =>
    t.true(
      remarks.some(each => pattern.test(each)),
      `${pattern} in ${remarks.join('\n')}`,
    )
  const known = await read({
    'config/server.js':
      "module.exports = ({ env }) => ({\n  cron: {\n    enabled: env.bool('CRON', true),\n    tasks: { '0 1 * * *': () => {} },\n  },\n})",
    'config/middlewares.js':
      "module.exports = [\n  { name: 'strapi::security', config: { contentSecurityPolicy: { useDefaults: true }, frameguard: false } },\n  { name: 'strapi::cors', config: { origin: ['https://a.example'], headers: ['Accept', 'X-Tenant'], credentials: true, maxAge: 60 } },\n]",
    'config/plugins.js':
      "module.exports = ({ env }) => ({\n  email: {\n    config: { provider: 'sendgrid', providerOptions: { apiKey: env('KEY') }, settings: { defaultFrom: env('FROM', 'shop@example.org') } },\n  },\n})",
  })
  t.is(known.from, 'shop@example.org')
  has(known.remarks, /^code config\/server\.js:4: .*tasks of `cron`/)
  has(
    known.remarks,
    /^remark config\/middlewares\.js:2: .*`contentSecurityPolicy`, `frameguard` of `strapi::security`/,
  )
  has(known.remarks, /^remark config\/middlewares\.js:3: .*without a counterpart: `maxAge` of `strapi::cors`/)
  t.like(known.cors, { headers: ['X-Tenant'], credentials: true })
  has(known.remarks, /^remark config\/plugins\.js:3: .*the provider `sendgrid` did not come over/)

  const computed = await read({
    'config/server.js': "module.exports = () => ({ cron: { tasks: require('node-cron').load() } })",
    'config/middlewares.js':
      "module.exports = [{ name: 'strapi::security', config: makePolicy() }, { name: 'strapi::cors', config: makeCors() }]",
    'config/plugins.js': 'module.exports = () => ({ email: makeMail() })',
  })
  has(computed.remarks, /^code config\/server\.js:1: .*tasks of `cron`/)
  has(computed.remarks, /^remark config\/middlewares\.js:1: .*`makePolicy\(\)` of `strapi::security`/)
  has(computed.remarks, /^remark config\/middlewares\.js:1: .*`makeCors\(\)` of `strapi::cors`/)
  has(computed.remarks, /^remark config\/plugins\.js:1: .*its provider did not come over/)

  const without = await read({
    'config/server.js': 'module.exports = { cron: { enabled: false, tasks: {} } }',
    'config/middlewares.js': "module.exports = ['strapi::security', 'strapi::cors']",
  })
  t.deepEqual(
    without.remarks.filter(each => /cron|security|cors|mail/i.test(each)),
    [],
  )

  // Code that may add anything is reported as such, and nothing is said of what it may add.
  const added = await read({
    'config/server.js':
      "module.exports = ({ env }) => {\n  if (env('LOCAL')) return { port: 1 }\n  return { host: '0.0.0.0' }\n}",
    'config/plugins.js': 'module.exports = ({ env }) => ({ ...pluginsOf(env) })',
  })
  has(added.remarks, /`config\/server` was not read/)
  has(added.remarks, /`config\/plugins` was not read/)
  t.deepEqual(
    added.remarks.filter(each => /cron|mail/i.test(each)),
    [],
  )

  const sender = await read({
    'config/plugins.js':
      "module.exports = ({ env }) => ({\n  email: { config: { settings: {\n    defaultFrom: `Shop <${env('FROM')}>`,\n  } } },\n})",
  })
  has(
    sender.remarks,
    /^remark config\/plugins\.js:3: - `email\.config\.settings\.defaultFrom` was not read: /,
  )
})

test('settings of uploads, mails, the server and of schemas that have no counterpart are reported', async t => {
  const { report } = await imported(t, {
    ...type('note', { title: { type: 'string' } }, { indexes: [{ name: 'x', columns: ['title'] }] }),
    'config/server.js': "module.exports = { socket: '/tmp/x', app: { keys: ['a'] } }",
    'config/plugins.js':
      "module.exports = { upload: { config: { security: { deniedTypes: ['image/svg+xml'] }, localServer: {} } }, email: { config: { settings: { defaultReplyTo: 'a@example.org' } } } }",
  })
  t.regex(
    report,
    /Lost content or access:[\s\S]*`security` of `upload\.config` refused files.*config\/plugins\.js:1/,
  )
  t.regex(report, /without a counterpart: `indexes` of the schema/)
  t.regex(report, /without a counterpart: `socket` in config\/server/)
  t.regex(report, /without a counterpart: `localServer` of `upload\.config`/)
  t.regex(report, /without a counterpart: `defaultReplyTo` of `email\.config\.settings`/)
})

test('sizes, lifetimes and proxies keep their variables, and numbers of seconds their unit', async t => {
  const { settings, report } = await imported(t, {
    ...type('note', { title: { type: 'string' } }),
    'config/server.ts': "export default ({ env }) => ({ proxy: { koa: env.bool('PROXIED', true) } })",
    'config/middlewares.ts': `export default ({ env }) => [
      { name: 'strapi::query', config: { arrayLimit: 500 } },
      { name: 'strapi::body', config: { formLimit: '2mb', jsonLimit: env('JSON_LIMIT', '10mb'), formidable: { maxFileSize: env.int('FILE_LIMIT', 5 * 1024) } } },
      { name: 'strapi::ip', config: { whitelist: ['10.0.*.*'] } },
      { resolve: './lib/trace' },
    ]`,
    'config/plugins.ts':
      "export default ({ env }) => ({ 'users-permissions': { config: { jwt: { expiresIn: 3600 }, register: { allowedFields: env.array('FIELDS', ['nickname']) } } } })",
    'src/extensions/users-permissions/content-types/user/schema.json': {
      attributes: { nickname: { type: 'string' } },
    },
  })
  t.is(settings?.server.trustProxy, true)
  t.is(settings?.server.bodyLimit, 10 * 1024 * 1024)
  t.is(settings?.upload.sizeLimit, 5 * 1024)
  t.is(settings?.auth.jwtExpiresIn, 3_600_000)
  t.deepEqual(settings?.auth.register.allowedFields, ['nickname'])
  t.regex(report, /Lost content[\s\S]*`strapi::ip` let in or kept out addresses.*config\/middlewares\.ts:4/)
  t.regex(report, /`arrayLimit` of `strapi::query`; .*config\/middlewares\.ts:2/)
  t.regex(report, /`formLimit` of `strapi::body`; .*config\/middlewares\.ts:3/)
  t.regex(report, /1 middleware: .*config\/middlewares\.ts:5/)

  const both = await imported(t, {
    ...type('note', { title: { type: 'string' } }),
    'config/middlewares.ts':
      "export default [{ name: 'strapi::body', config: { formidable: { maxFileSize: 2000 } } }]",
    'config/plugins.ts': 'export default { upload: { config: { sizeLimit: 3000 } } }',
  })
  t.is(both.settings?.upload.sizeLimit, 2000)

  const lifetime = (expiresIn: string) => ({
    ...type('note', { title: { type: 'string' } }),
    'config/plugins.ts': `export default ({ env }) => ({ 'users-permissions': { config: { jwt: { expiresIn: ${expiresIn} } } } })`,
  })
  const named = await imported(t, lifetime("env('LIFETIME', '14d')"))
  t.is(named.settings?.auth.jwtExpiresIn, 14 * 24 * 3_600_000)
  const seconds = await imported(t, lifetime("env.int('LIFETIME', 60)"))
  t.is(seconds.settings?.auth.jwtExpiresIn, 60_000)
  t.regex(seconds.report, /the variable `LIFETIME` had seconds in Strapi/)
})

test('plugins in folders that are not read, and other settings of config/, are reported', async t => {
  const { report } = await imported(t, {
    ...type('page', { title: { type: 'string' } }),
    'config/api.js':
      "module.exports = { rest: { maxLimit: 10, strictParams: true }, responses: { privateAttributes: ['x'] } }",
    'config/plugins.js': `module.exports = {
      away: { enabled: true, resolve: '../packages/away' },
      off: { enabled: false, resolve: '../packages/off' },
      here: { enabled: true, resolve: './src/plugins/here' },
      'users-permissions': { config: { jwt: { expiresIn: '7d' }, ratelimit: { max: 5 }, jwtManagement: 'refresh' } },
    }`,
    'src/plugins/here/strapi-server.js': 'module.exports = () => ({ services: {} })',
  })
  t.regex(report, /2 plugins: an extension \(src\/plugins\/here\/strapi-server\.js, config\/plugins\.js:2\)/)
  t.regex(report, /without a counterpart: `strictParams` of `rest` in config\/api \(config\/api\.js:1/)
  t.regex(report, /`ratelimit` of `users-permissions\.config` in config\/plugins \(config\/plugins\.js:5/)
  t.regex(
    report,
    /Lost content[\s\S]*`jwtManagement`: .*`auth\/refresh`, `auth\/logout` .*404.*\(config\/plugins\.js:5/,
  )
  t.notRegex(report, /privateAttributes|expiresIn/)
})

test('code of an API without a content-type is reported, and no file of another API twice', async t => {
  const inOneApi = (name: string): Record<string, object> => {
    const [schema] = Object.values(type(name, { title: { type: 'string' } }))
    return { [`src/api/blog/content-types/${name}/schema.json`]: schema ?? {} }
  }
  const pay = 'api::stripe.stripe.pay'
  const { report } = await imported(t, {
    ...inOneApi('article'),
    ...inOneApi('author'),
    'src/api/blog/controllers/author.js': 'module.exports = { async find() {} }',
    'src/api/blog/services/other.js': 'module.exports = () => ({ helps() {} })',
    'src/api/stripe/controllers/stripe.js': 'module.exports = { async pay() {} }',
    'src/api/stripe/routes/stripe.js':
      "module.exports = { routes: [{ method: 'POST', path: '/pay', handler: 'stripe.pay' }] }",
    'config/sync/user-role.public.json': {
      name: 'Public',
      type: 'public',
      permissions: [{ action: pay }, { action: 'api::blog.gone.find' }],
    },
  })
  t.regex(report, /2 controllers: .*\(src\/api\/blog\/controllers\/author\.js, src\/api\/stripe\/controllers/)
  t.regex(report, /1 service: .*\(src\/api\/blog\/services\/other\.js\)/)
  t.regex(report, /1 route: .*\(src\/api\/stripe\/routes\/stripe\.js\)/)
  t.regex(
    report,
    /Lost content or access:[\s\S]*`api::stripe\.stripe\.pay` did not come over[\s\S]*Code to rewrite/,
  )
  t.regex(report, /`api::blog\.gone\.find`: the project has no such content-type/)
})

test('attributes that a project adds to files are reported, and plugins of any name', async t => {
  const attributes = { name: { type: 'string' }, blurhash: { type: 'text' }, createdAt: { type: 'datetime' } }
  const { report } = await imported(t, {
    ...type('page', { title: { type: 'string' } }),
    'package.json': {
      name: 'shop',
      dependencies: {
        '@strapi/strapi': '4.25.0',
        ...{
          '@strapi/utils': '4.25.0',
          '@strapi/plugin-sentry': '4.25.0',
          'strapi-protected-populate': '1.0.0',
        },
      },
    },
    'src/extensions/upload/content-types/file/schema.json': { collectionName: 'files', attributes },
    'src/extensions/users-permissions/content-types/role/schema.json': {
      collectionName: 'up_roles',
      attributes: { name: { type: 'string' }, users: { type: 'relation' } },
    },
  })
  t.regex(
    report,
    /Lost content or access:[\s\S]*not read: src\/extensions\/upload\/\S+: `blurhash`: Plinth has its own `plugin::upload\.file`/,
  )
  t.notRegex(report, /plugin::users-permissions\.role/)
  t.regex(report, /packages without a counterpart: @strapi\/plugin-sentry, strapi-protected-populate \(/)
})

test('the size of files that config/middlewares limits is imported', async t => {
  const sizeLimit = async (files: Readonly<Record<string, string>>) =>
    (await imported(t, { ...type('page', { title: { type: 'string' } }), ...files })).settings?.upload
      .sizeLimit
  const body = (formidable: string) => ({
    'config/middlewares.js': `module.exports = [{ name: 'strapi::body', config: { formidable: ${formidable} } }]`,
  })
  t.is(await sizeLimit(body('{ maxFileSize: 300 * 1024 * 1024 }')), 300 * 1024 * 1024)
  for (const [parsed, stored] of [
    [300, 5000],
    [5000, 300],
  ]) {
    const uploads = `module.exports = { upload: { config: { sizeLimit: ${stored} } } }`
    t.is(await sizeLimit({ ...body(`{ maxFileSize: ${parsed} }`), 'config/plugins.js': uploads }), 300)
  }
})

test('registration accepts what the version of Strapi accepts without a setting', async t => {
  const user = {
    'src/extensions/users-permissions/content-types/user/schema.json': {
      kind: 'collectionType',
      collectionName: 'up_users',
      info: { singularName: 'user', pluralName: 'users', displayName: 'User' },
      attributes: {
        username: { type: 'string', required: true },
        phone: { type: 'string' },
        pin: { type: 'string', private: true },
        photo: { type: 'media', multiple: false },
        favourite: { type: 'relation', relation: 'oneToOne', target: 'api::note.note' },
        createdAt: { type: 'datetime' },
      },
    },
  }
  const settings = (config: string) => ({
    'config/plugins.js': `module.exports = () => ({ 'users-permissions': { config: ${config} } })`,
  })
  const strapi4 = { 'package.json': { name: 'notes', dependencies: { '@strapi/strapi': '4.25.1' } } }
  for (const [files, expected] of [
    [strapi4, ['phone']],
    [{ ...strapi4, ...settings('{ register: { allowedFields: ["pin"] } }') }, ['pin']],
    [{ ...strapi4, ...settings('{ register: { allowedFields: [] } }') }, []],
    [{}, []],
  ] as const) {
    const strapi = strapiProject({ ...type('note', { title: { type: 'string' } }), ...user, ...files })
    t.teardown(strapi.remove)
    const out = join(strapi.path, 'plinth')
    t.is((await runImport({ dir: strapi.path, out })).code, 0)
    const { settings: imported, faults } = await check(out)
    t.deepEqual(faults, [])
    t.deepEqual(imported?.auth.register.allowedFields, expected)
  }
})

test('content-types of plugins in the project are imported, with relations to them', async t => {
  const strapi = strapiProject({
    ...type('page', {
      form: { type: 'relation', relation: 'manyToOne', target: 'plugin::form-builder.form' },
    }),
    'src/extensions/form-builder/content-types/form/schema.json': {
      kind: 'collectionType',
      collectionName: 'built-forms',
      info: { singularName: 'built-form', pluralName: 'built-forms', displayName: 'Forms' },
      attributes: { title: { type: 'string' } },
    },
    'src/plugins/stock/server/src/content-types/level/schema.json': {
      kind: 'collectionType',
      collectionName: 'stock_levels',
      info: { singularName: 'level', pluralName: 'levels', displayName: 'Level' },
      attributes: { amount: { type: 'integer' } },
    },
    'src/extensions/upload/content-types/file/schema.json': {
      collectionName: 'files',
      info: { singularName: 'file', pluralName: 'files', displayName: 'File' },
      attributes: { name: { type: 'string' } },
    },
  })
  t.teardown(strapi.remove)
  const out = join(strapi.path, 'plinth')
  t.is((await runImport({ dir: strapi.path, out })).code, 0)
  const { settings, faults } = await check(out)
  t.deepEqual(faults, [])
  const { contentTypes = {} } = settings ?? {}
  t.deepEqual(Object.keys(contentTypes).toSorted(), ['form-builder-built-form', 'page', 'stock-level'])
  t.like(contentTypes.page?.attributes.form, { type: 'relation', target: 'form-builder-built-form' })
  t.is(contentTypes['stock-level']?.tableName, undefined)
})

test('content-types that a plugin of the project exports are imported by its name in config/plugins, from any file', async t => {
  const schema = (name: string, attributes: object) =>
    JSON.stringify({
      collectionName: `loyalty_${name}s`,
      info: { singularName: name, pluralName: `${name}s`, displayName: name },
      attributes,
    })
  const { types, report } = await imported(t, {
    ...type('event', {
      perks: { type: 'relation', relation: 'oneToMany', target: 'plugin::loyalty.perk', mappedBy: 'event' },
    }),
    'config/plugins.ts':
      "export default () => ({ loyalty: { enabled: true, resolve: './src/plugins/strapi-plugin-loyalty' } })",
    'src/plugins/strapi-plugin-loyalty/server/index.js': 'module.exports = {}',
    'src/plugins/strapi-plugin-loyalty/server/content-types/index.js':
      "module.exports = { perk: { schema: require('./perk') }, tier: require('./tier'), level: { schema: require('./Levels/schema.json') } }",
    'src/plugins/strapi-plugin-loyalty/server/content-types/perk.json': schema('perk', {
      event: { type: 'relation', relation: 'manyToOne', target: 'api::event.event', inversedBy: 'perks' },
    }),
    'src/plugins/strapi-plugin-loyalty/server/content-types/tier.js': `const schema = ${schema('tier', { name: { type: 'string' } })}\nmodule.exports = { schema }`,
    'src/plugins/strapi-plugin-loyalty/server/content-types/Levels/schema.json': schema('level', {
      tier: { type: 'relation', relation: 'manyToOne', target: 'plugin::loyalty.tier' },
    }),
  })
  t.deepEqual(Object.keys(types).toSorted(), ['event', 'loyalty-level', 'loyalty-perk', 'loyalty-tier'])
  t.like(types.event?.attributes.perks, { target: 'loyalty-perk', mappedBy: 'event' })
  t.like(types['loyalty-perk']?.attributes.event, { target: 'event', inversedBy: 'perks' })
  t.like(types['loyalty-level']?.attributes.tier, { target: 'loyalty-tier' })
  t.notRegex(report, /did not come over: it leads|is left out/)
})

/** The declared attributes of a content-type of the imported project. */
async function imported(t: ExecutionContext, files: Parameters<typeof strapiProject>[0]) {
  const strapi = strapiProject(files)
  t.teardown(strapi.remove)
  const out = join(strapi.path, 'plinth')
  const { code, out: report, complaint } = await runImport({ dir: strapi.path, out })
  t.is(code, 0, complaint)
  const { settings, faults } = await check(out)
  t.deepEqual(faults, [])
  return { settings, report, types: settings?.contentTypes ?? {} }
}

test('values that Strapi keeps in another form are converted, and what is dropped is named', async t => {
  const { types, report } = await imported(t, {
    ...type('page', {
      level: { type: 'enumeration', enum: [1, 2.5, 'x', true, { a: 1 }] },
      code: { type: 'enumeration', enum: [] },
      picture: { type: 'media', allowedTypes: ['images', 'pdf'] },
      zone: { type: 'dynamiczone', components: ['parts.a', 'parts.gone'] },
      tags: { type: 'customField', customField: 'plugin::multi-select.multi-select', default: '["a"]' },
      word: { type: 'json', default: 'plain' },
      opens: { type: 'time', default: '09:30' },
      since: { type: 'date', default: '2024-01-01T00:00:00.000Z' },
      short: { type: 'string', minLength: '2', maxLength: '20' },
      'kebab-name': { type: 'string' },
      ['long'.repeat(20)]: { type: 'string' },
    }),
    ...type('camelCase', { kind: { type: 'enumeration', enum: ['a'] } }),
    'src/components/parts/a.json': { attributes: { title: { type: 'string' } } },
    'src/api/made/content-types/made/schema.js':
      "module.exports = { info: { singularName: 'made', pluralName: 'mades' }, attributes: { size: { type: 'enumeration', enum: Object.keys(sizes) }, title: { type: 'string' } } }",
  })
  const { level, tags, word, opens, since, short } = types.page?.attributes ?? {}
  t.like(level, { type: 'enumeration', enum: ['1', '2.5', 'x', 'true'].map(value => ({ value })) })
  t.like(tags, { type: 'json', default: ['a'] })
  t.like(word, { default: 'plain' })
  t.like(opens, { default: '09:30:00' })
  t.like(since, { default: '2024-01-01' })
  t.like(short, { minLength: 2, maxLength: 20 })
  t.is(types.made?.attributes.size?.type, 'string')
  for (const named of [
    /`level`: `enum` has values that are no texts/,
    /`code` is left out: it has no values/,
    /`pdf` in `allowedTypes` is left out: Plinth has images, videos, audios, files/,
    /`zone` is without `parts\.gone`: there is no such component/,
    /`size`: an enumeration in Strapi, kept as string: code makes its values/,
    /`kebab-name` in Strapi: a name in Plinth begins with a letter/,
    /`(?:long){20}` in Strapi: a name in Plinth .* at most 50 characters/,
    /`camelCase` in Strapi: a name in Plinth is in kebab-case/,
    /served it under `\/camelCases`: a name in Plinth is in kebab-case; here it is `\/camel-cases`/,
  ])
    t.regex(report, named)
})

test('an attribute that Strapi shows by a condition is not required', async t => {
  const conditions = { visible: { '==': [{ var: 'kind' }, 'external'] } }
  const { types, report } = await imported(t, {
    ...type('link', {
      kind: { type: 'enumeration', enum: ['external', 'page'], required: true },
      href: { type: 'string', required: true, minLength: 3, conditions },
      note: { type: 'string', required: true, conditions: {} },
    }),
  })
  const { kind, href, note } = types.link?.attributes ?? {}
  t.deepEqual([kind?.required, href?.required, note?.required], [true, false, true])
  t.like(href, { minLength: 3 })
  t.regex(
    report,
    /`required` is left out: Strapi asks for a value only where `conditions` show the attribute \(src\/api\/link/,
  )
})

test('code of an API is reported once, also of one without content-types, and previews of the panel', async t => {
  const { report } = await imported(t, {
    ...type('page', { title: { type: 'string' } }),
    'src/api/page/content-types/part/schema.json': {
      info: { singularName: 'part', pluralName: 'parts' },
      attributes: { title: { type: 'string' } },
    },
    'src/api/page/services/page.js': 'module.exports = { top() { return 1 } }',
    'src/api/page/routes/page.js':
      "const { createCoreRouter } = require('@strapi/strapi').factories\nmodule.exports = createCoreRouter('api::page.page', { prefix: '', except: [] })",
    'src/api/health/routes/health.js':
      "module.exports = { routes: [{ method: 'GET', path: '/health', handler: 'health.find', config: { auth: false } }] }",
    'src/api/health/controllers/health.js': "module.exports = { find(ctx) { ctx.body = 'ok' } }",
    'config/admin.js':
      'module.exports = ({ env }) => ({\n  preview: { enabled: true, config: { handler: uid => env(uid) } },\n})',
  })
  t.notRegex(report, /had its routes under/)
  t.regex(report, /1 service: .* \(src\/api\/page\/services\/page\.js\)/)
  t.regex(report, /1 route: .* \(src\/api\/health\/routes\/health\.js\)/)
  t.regex(report, /1 controller: .* \(src\/api\/health\/controllers\/health\.js\)/)
  t.regex(report, /`console\.preview` of a content-type .* \(config\/admin\.js:2/)
})

const relation = (kind: string, target: string, more: Record<string, unknown> = {}) => ({
  type: 'relation',
  relation: kind,
  target: `api::${target}.${target}`,
  ...more,
})

test('relations whose sides do not name each other are repaired, with a remark', async t => {
  const { types, report } = await imported(t, {
    ...type('post', {
      writer: relation('manyToOne', 'person'),
      tags: relation('manyToMany', 'tag', { inversedBy: 'posts' }),
      cover: relation('oneToOne', 'picture', { inversedBy: 'post' }),
      lost: relation('manyToOne', 'person', { inversedBy: 'none' }),
      parent: relation('manyToOne', 'post', { inversedBy: 'childs' }),
      children: relation('oneToMany', 'post', { mappedBy: 'parent' }),
    }),
    ...type('person', { posts: relation('oneToMany', 'post', { mappedBy: 'writer' }) }),
    ...type('tag', { posts: relation('manyToMany', 'post') }),
    ...type('picture', { post: relation('oneToOne', 'post', { inversedBy: 'cover' }) }),
  })
  const { writer, tags, cover, lost, parent, children } = types.post?.attributes ?? {}
  t.like(writer, { inversedBy: 'posts' })
  t.like(types.person?.attributes.posts, { mappedBy: 'writer' })
  t.like(tags, { inversedBy: 'posts' })
  t.like(types.tag?.attributes.posts, { mappedBy: 'tags' })
  for (const each of [cover, types.picture?.attributes.post, lost])
    t.like(each, { type: 'relation', inversedBy: undefined, mappedBy: undefined })
  t.like(parent, { inversedBy: 'children' })
  t.like(children, { mappedBy: 'parent' })
  t.regex(
    report,
    /`inversedBy: posts` is added: `posts` names it \(src\/api\/post\/.*schema\.json:1 → project/,
  )
})

test('reserved and clashing names are changed with all their references, and nothing is dropped', async t => {
  const text = { type: 'string' }
  const { types, settings, report } = await imported(t, {
    'package.json': {
      name: 'names',
      dependencies: { '@strapi/strapi': '5.1.0', '@strapi/plugin-graphql': '5.1.0' },
    },
    'config/plugins.js':
      "module.exports = { 'users-permissions': { config: { register: { allowedFields: ['and'] } } } }",
    ...type('role', {
      title: text,
      id: text,
      locale: text,
      constructor: text,
      fooBar: text,
      foo_bar: text,
      foo_bar_: text,
      localizations: text,
      localizations_: text,
      slug: { type: 'uid', targetField: 'locale' },
      or: relation('manyToOne', 'upload', { inversedBy: 'not' }),
      size: { type: 'enumeration', enum: ['null', 'true', 'a-b', 'a b', '1', 'Ж'] },
      [`a${'b'.repeat(70)}`]: text,
    }),
    ...type('upload', {
      not: relation('oneToMany', 'role', { mappedBy: 'or' }),
      parts: { type: 'component', component: 'Some Thing.Query', repeatable: true },
      zone: { type: 'dynamiczone', components: ['Some Thing.Query', 'some-thing.query'] },
    }),
    ...type('query', { title: text }),
    ...type('component-some-thing-query', { title: text }),
    'src/components/Some Thing/Query.json': { attributes: { id: text, and: text } },
    'src/components/some-thing/query.json': { attributes: { title: text } },
    'src/extensions/users-permissions/content-types/user/schema.json': {
      attributes: { username: text, and: text, documentId: text },
    },
  })
  t.deepEqual(Object.keys(types).length, 4)
  const role = types['own-role']?.attributes ?? {}
  t.is(Object.keys(role).length, 13)
  t.like(role.slug, { targetField: 'locale_' })
  t.like(role.or_, { target: 'own-upload', inversedBy: 'not_' })
  t.like(types['own-upload']?.attributes.not_, { target: 'own-role', mappedBy: 'or_' })
  t.is(role.size?.type === 'enumeration' && role.size.enum.length, 6)
  t.is(Object.keys(settings?.components ?? {}).length, 2)
  const zone = types['own-upload']?.attributes.zone
  t.deepEqual(
    zone?.type === 'dynamiczone' && zone.components.toSorted(),
    Object.keys(settings?.components ?? {}).toSorted(),
  )
  const parts = Object.values(settings?.components ?? {}).flatMap(({ attributes }) => Object.keys(attributes))
  t.deepEqual(parts.toSorted(), ['and_', 'id_', 'title'])
  t.deepEqual(Object.keys(settings?.user.attributes ?? {}), ['and_', 'documentId_'])
  t.deepEqual(settings?.auth.register.allowedFields, ['and_'])
  t.notRegex(report, /left out/)
})

test('names that clash are changed also where other faults are removed, and one fault removes nothing but its part', async t => {
  const text = { type: 'string' }
  const { types, settings, report } = await imported(t, {
    'package.json': {
      name: ' ',
      dependencies: { '@strapi/strapi': '5.1.0', '@strapi/plugin-graphql': '5.1.0' },
    },
    'config/middlewares.js':
      "module.exports = [{ name: 'strapi::cors', config: { origin: ['none', '', 'https://a.example'] } }]",
    ...type('int', {
      title: { type: 'email', min: 3 },
      fooBar: text,
      foo_bar: text,
      slug: { type: 'uid', targetField: 'nothing' },
    }),
    ...type('page', { size: { type: 'enumeration', enum: ['a'], enumName: 'Sizes' } }),
  })
  t.is(Object.keys(types).length, 2)
  const [[, int] = []] = Object.entries(types).filter(([key]) => key !== 'page')
  t.is(Object.keys(int?.attributes ?? {}).length, 4)
  t.deepEqual(settings?.server.cors.origins, ['https://a.example'])
  t.regex(report, /without a counterpart: `enumName`/)
})

test('of two schemas with one uid the last is imported, as in Strapi, and the other is named', async t => {
  const schema = (name: string) => ({
    info: { singularName: 'blog-post', pluralName: 'blog-posts', displayName: 'Post' },
    attributes: { [name]: { type: 'string' } },
  })
  const { types, report } = await imported(t, {
    'src/api/blog/content-types/BlogPost/schema.json': schema('old'),
    'src/api/blog/content-types/blog-post/schema.json': schema('title'),
    'src/api/blog/content-types/photo/schema.json': {
      info: { singularName: 'photo', pluralName: 'photos', displayName: 'Photo' },
      attributes: { file: { type: 'media' } },
    },
  })
  t.regex(report, /`ref=api::blog\.photo` have `ref=api::photo\.photo` here/)
  t.notRegex(report, /ref=api::blog\.blog-post/)
  t.deepEqual(Object.keys(types['blog-post']?.attributes ?? {}), ['title'])
  t.regex(report, /BlogPost\/schema\.json was not read: .*same uid, `api::blog\.blog-post`/)
})

test('a permission that a route asked for and no role can have is reported', async t => {
  const { settings, report } = await imported(t, {
    ...type('note', { title: { type: 'string' } }),
    ...type('home', { title: { type: 'string' } }, { kind: 'singleType' }),
    'src/api/note/routes/note.js':
      "module.exports = createCoreRouter('api::note.note', { config: { find: { auth: { scope: ['api::note.note.find', 'plugin::shop.cart.find', 'api::note.note.archive'], strategies: ['a'] } } } })",
    'src/api/home/routes/home.js':
      "module.exports = createCoreRouter('api::home.home', { config: { find: { auth: false }, create: { auth: false } } })",
  })
  t.deepEqual(Object.keys(settings?.routesConfig ?? {}), ['home.find', 'note.find'])
  t.deepEqual(settings?.routesConfig['note.find']?.auth, { scope: ['api::note.note.find'] })
  t.regex(
    report,
    /Lost content or access:[\s\S]*also asked for `plugin::shop\.cart\.find`, `api::note\.note\.archive` here/,
  )
  t.regex(report, /without a counterpart: `strategies` of `auth`/)
})

test('a file with invalid JSON is reported with line and column', async t => {
  const strapi = strapiProject({
    ...type('page', { title: { type: 'string' } }),
    'src/api/note/content-types/note/schema.json':
      '{\n  "kind": "collectionType",\n  "info": { "singularName": "note" },,\n}',
  })
  t.teardown(strapi.remove)
  const out = join(strapi.path, 'plinth')
  const { out: report } = await runImport({ dir: strapi.path, out })
  t.regex(report, /src\/api\/note\/content-types\/note\/schema\.json:3:38 invalid JSON/)
})
