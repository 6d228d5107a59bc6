import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { checkApp } from '../../core/app/check-app.ts'
import { readProject } from '../../core/project/load-project.ts'
import { runImport, strapiProject, type } from './import.ts'

/** Imports a project with these files. Remarks are `kind place: text`. */
async function imported(t: ExecutionContext, files: Parameters<typeof strapiProject>[0]) {
  const strapi = strapiProject({ ...type('note', { title: { type: 'string' } }), ...files })
  t.teardown(strapi.remove)
  const out = join(strapi.path, 'plinth')
  const { code, out: report, complaint } = await runImport({ dir: strapi.path, out, json: true })
  t.is(code, 0, complaint)
  const { remarks } = JSON.parse(report) as { remarks: { kind: string; text: string; source?: string }[] }
  return {
    out,
    yaml: readFileSync(join(out, 'project.yaml'), 'utf8'),
    remarks: remarks.map(({ kind, text, source }) => `${kind} ${source ?? ''}: ${text.replace(/^- /, '')}`),
  }
}

const includes = (t: ExecutionContext, remarks: readonly string[], pattern: RegExp) =>
  t.true(
    remarks.some(each => pattern.test(each)),
    `${pattern} in ${remarks.join('\n')}`,
  )

const settingsOf = async (t: ExecutionContext, folder: string, env: Readonly<Record<string, string>>) => {
  const { project, faults } = await readProject(folder, env)
  t.deepEqual(faults, [])
  const checked = project === undefined ? undefined : await checkApp({})(project)
  t.deepEqual(checked?.ok === false ? checked.reasons : [], [])
  return project?.settings
}

/** A role of config-sync. */
const role = (type: string, actions: readonly string[]) => ({
  [`config/sync/user-role.${type}.json`]: {
    name: type,
    type,
    permissions: actions.map(action => ({ action })),
  },
})

test('plugins are reported by the name in config/plugins, and by what an installed package says', async t => {
  const plugin = (strapi: object) => ({ name: 'x', version: '1.0.0', strapi })
  const { remarks } = await imported(t, {
    'package.json': {
      name: 'shop',
      dependencies: {
        '@strapi/strapi': '5.12.0',
        '@strapi/plugin-graphql': '5.12.0',
        'strapi-plugin-menus': '1.0.0',
        'record-locks': '1.0.0',
        'plain-audit': '1.0.0',
        'plain-library': '1.0.0',
      },
    },
    'node_modules/plain-audit/package.json': plugin({ kind: 'plugin', name: 'audit' }),
    'node_modules/plain-library/package.json': { name: 'plain-library' },
    'src/plugins/own/strapi-server.js': 'module.exports = () => ({ services: {} })',
    'config/plugins.js': `module.exports = {
      graphql: { enabled: true },
      menus: { enabled: true },
      audit: true,
      own: { enabled: true, resolve: './src/plugins/own' },
      off: { enabled: false },
      gone: false,
      'locks': { resolve: 'record-locks' },
      upload: { config: { sizeLimit: 1000 } },
      slugs: { enabled: true, config: { unique: true } },
    }`,
  })
  includes(t, remarks, /^remark : packages without a counterpart: strapi-plugin-menus, plain-audit$/)
  includes(t, remarks, /^remark config\/plugins\.js:8: plugins without a counterpart: `locks`, `slugs`$/)
})

test('a plugin in a folder is reported unless it extends the admin panel alone', async t => {
  const manifest = { name: 'x', version: '1.0.0', strapi: { kind: 'plugin' } }
  const { remarks } = await imported(t, {
    'src/plugins/badge/package.json': manifest,
    'src/plugins/badge/strapi-admin.js': 'export default {}',
    'src/plugins/badge/admin/src/index.js': 'export default {}',
    'src/plugins/tiles/package.json': manifest,
    'src/plugins/tiles/admin/src/index.ts': 'export default {}',
    'src/plugins/built/package.json': manifest,
    'src/plugins/served/strapi-admin.js': 'export default {}',
    'src/plugins/served/strapi-server.js': "module.exports = () => ({ services: require('./server/notes') })",
    'src/plugins/typed/admin/src/index.js': 'export default {}',
    'src/plugins/typed/server/content-types/index.json': {},
    'config/plugins.js': `module.exports = {
      badge: { enabled: true, resolve: './src/plugins/badge' },
      tiles: { enabled: true, resolve: 'src/plugins/tiles/' },
      built: { enabled: true, resolve: './src/plugins/built' },
      served: { enabled: true, resolve: './src/plugins/served' },
      typed: { enabled: true, resolve: './src/plugins/typed' },
      far: { enabled: true, resolve: '../packages/far' },
    }`,
  })
  const lost = remarks.filter(each => /did not come over|without a counterpart/.test(each))
  t.deepEqual(
    lost.map(each => /`(\w+)`|plugins\/(\w+)/.exec(each)?.slice(1).find(Boolean)),
    ['served', 'built', 'typed', 'far'],
    lost.join('\n'),
  )
})

test('settings whose values are in variables keep them, or are reported', async t => {
  const { out, remarks } = await imported(t, {
    'config/server.js':
      "module.exports = ({ env }) => ({ port: env.int('PORT', 1400), url: env('PUBLIC_URL') })",
    'config/api.js':
      "module.exports = ({ env }) => ({ responses: { privateAttributes: env.array('HIDDEN') } })",
    'config/plugins.js': `module.exports = ({ env }) => ({
      email: { config: { settings: { defaultFrom: env('FROM') } } },
      'users-permissions': { config: { register: { allowedFields: env.array('FIELDS', ['nickname']) } } },
    })`,
    'src/extensions/users-permissions/content-types/user/schema.json': {
      attributes: { nickname: { type: 'string' } },
    },
  })
  const settings = await settingsOf(t, out, { FROM: 'shop@example.org' })
  t.is(settings?.server.url, 'http://localhost:1400')
  t.is(settings?.auth.mail.from, 'shop@example.org')
  t.deepEqual(settings?.auth.register.allowedFields, ['nickname'])
  t.falsy((await settingsOf(t, out, {}))?.auth.mail.from)
  includes(
    t,
    remarks,
    /^lost config\/plugins\.js:3: `allowedFields` was in the variable `FIELDS`, .*fallback/,
  )
  includes(t, remarks, /^lost config\/api\.js:1: `privateAttributes` was in the variable `HIDDEN`/)
})

test("settings of Strapi's middlewares, other sections of config/api and patches are reported", async t => {
  const { remarks } = await imported(t, {
    'config/api.js': 'module.exports = { rest: {}, documents: { strictRelations: true } }',
    'config/middlewares.js': `module.exports = [
      'strapi::errors',
      { name: 'strapi::responses', config: { handlers: { 404: ctx => { ctx.body = 'none' } } } },
      { name: 'strapi::public', config: { maxAge: 60 } },
      { name: 'strapi::compression', config: makeCompression() },
    ]`,
    'config/plugins.js':
      "module.exports = ({ env }) => ({ graphql: { config: { playgroundAlways: env('NODE_ENV') !== 'production' } } })",
    'package.json': {
      name: 'shop',
      dependencies: { '@strapi/strapi': '5.12.0', '@strapi/plugin-graphql': '5.12.0' },
    },
    'patches/@strapi+core+5.12.0.patch': 'diff --git a/x b/x',
    '.yarn/patches/koa-npm-2.patch': 'diff --git a/x b/x',
  })
  includes(t, remarks, /^remark config\/api\.js:1: without a counterpart: `documents` in config\/api$/)
  includes(t, remarks, /^remark config\/middlewares\.js:3: .*`handlers` of `strapi::responses`; a middleware/)
  includes(t, remarks, /^remark config\/middlewares\.js:4: .*`maxAge` of `strapi::public`$/)
  includes(t, remarks, /^remark config\/middlewares\.js:5: .*`makeCompression\(\)` of `strapi::compression`$/)
  includes(t, remarks, /^remark config\/plugins\.js:1: `graphql\.config\.playgroundAlways` was not read/)
  includes(t, remarks, /^code patches\/@strapi\+core\+5\.12\.0\.patch: /)
  includes(t, remarks, /^code \.yarn\/patches\/koa-npm-2\.patch: /)
})

test('a role gets no permission for routes that Strapi did not serve, unless GraphQL had it', async t => {
  const router = (name: string, options: string) => ({
    ...type(name, { title: { type: 'string' } }),
    [`src/api/${name}/routes/${name}.js`]: `const { createCoreRouter } = require('@strapi/strapi').factories
module.exports = createCoreRouter('api::${name}.${name}', ${options})`,
  })
  const granted = ['find', 'create', 'delete']
  const files = {
    ...router('order', "{ except: ['delete'], config: { find: { auth: false }, delete: { auth: false } } }"),
    ...router('page', "{ only: ['find', 'findOne'] }"),
    // Entries have a controller, and no file of routes: that of the API is the router of reports, and lists one route of an action.
    ...type('entry', { title: { type: 'string' } }),
    'src/api/entry/content-types/report/schema.json': {
      info: { singularName: 'report', pluralName: 'reports' },
    },
    'src/api/entry/controllers/entry.js': 'module.exports = { find() {} }',
    'src/api/entry/controllers/report.js': 'module.exports = {}',
    'src/api/entry/routes/report.js': `module.exports = require('@strapi/strapi').factories.createCoreRouter('api::entry.report')`,
    'src/api/entry/routes/custom.js': `module.exports = { routes: [{ method: 'GET', path: '/log', handler: 'entry.find' }] }`,
    'config/sync/user-role.public.json': {
      name: 'Public',
      type: 'public',
      permissions: ['order.order', 'page.page', 'entry.entry', 'entry.report'].flatMap(name =>
        granted.map(action => ({ action: `api::${name}.${action}` })),
      ),
    },
  }
  const alone = await imported(t, files)
  const settings = await settingsOf(t, alone.out, {})
  t.deepEqual(Object.keys(settings?.roles.public?.permissions.order ?? {}), ['find', 'create'])
  t.deepEqual(Object.keys(settings?.roles.public?.permissions.page ?? {}), ['find'])
  t.is(settings?.roles.public?.permissions.entry, undefined)
  t.deepEqual(Object.keys(settings?.roles.public?.permissions.report ?? {}), ['find', 'create', 'delete'])
  t.deepEqual(Object.keys(settings?.routesConfig ?? {}), ['order.find'])
  includes(
    t,
    alone.remarks,
    /^remark src\/api\/entry\/\S+: Strapi had no generated route: no role has the permission of one/,
  )
  includes(
    t,
    alone.remarks,
    /^remark src\/api\/page\/\S+: Strapi had only the routes `find`, `findOne`: no role has the permission of another/,
  )

  const graphql = await imported(t, {
    ...files,
    'package.json': {
      name: 'shop',
      dependencies: {
        '@strapi/strapi': '5.12.0',
        '@strapi/plugin-graphql': '5.12.0',
        '@strapi/plugin-users-permissions': '5.12.0',
      },
    },
  })
  const both = await settingsOf(t, graphql.out, {})
  t.deepEqual(Object.keys(both?.roles.public?.permissions.page ?? {}), ['find', 'create', 'delete'])
  includes(
    t,
    graphql.remarks,
    /^lost src\/api\/page\/\S+: Strapi had only the routes .* GraphQL had the operations/,
  )
})

test('the report warns of policies and middlewares only in projects that have them', async t => {
  const warns = async (options: string) => {
    const strapi = strapiProject({
      ...type('note', { title: { type: 'string' } }),
      'src/api/note/routes/note.js': `const { createCoreRouter } = require('@strapi/strapi').factories
module.exports = createCoreRouter('api::note.note', ${options})`,
    })
    t.teardown(strapi.remove)
    const { out } = await runImport({ dir: strapi.path, out: join(strapi.path, 'plinth') })
    return out.includes('what controllers, policies and middlewares of your own kept from callers')
  }
  t.false(await warns("{ except: ['delete'], config: { find: { auth: false } } }"))
  t.true(await warns("{ config: { find: { policies: ['is-owner'] } } }"))
})

test('origins in variables are their fallbacks, and never open the API to all', async t => {
  const corsOf = async (origin: string) => {
    const { out, remarks } = await imported(t, {
      'config/middlewares.js': `module.exports = ({ env }) => [{ name: 'strapi::cors', config: { origin: ${origin} } }]`,
    })
    return { origins: (await settingsOf(t, out, {}))?.server.cors.origins, remarks }
  }
  const some = await corsOf("env.array('ORIGINS', ['https://a.example', 'https://b.example/'])")
  t.deepEqual(some.origins, ['https://a.example', 'https://b.example'])
  includes(t, some.remarks, /^lost config\/middlewares\.js:1: origins were in variables.*`ORIGINS`/)
  const mixed = await corsOf("['http://localhost:3000', env('SITE'), process.env.SHOP]")
  t.deepEqual(mixed.origins, ['http://localhost:3000'])
  includes(t, mixed.remarks, /^lost .*`SITE`, `SHOP`/)
  const none = await corsOf("env.array('ORIGINS')")
  t.deepEqual(none.origins, ['*'])
  includes(t, none.remarks, /^lost .*name them here, or all may call/)
})

test('a limit in a variable without a fallback is no limit, as in Strapi', async t => {
  const maxLimit = async (value: string, env: Readonly<Record<string, string>> = {}) => {
    const { out } = await imported(t, {
      'config/api.js': `module.exports = ({ env }) => ({ rest: { maxLimit: ${value} } })`,
    })
    return (await settingsOf(t, out, env))?.rest.maxLimit
  }
  t.is(await maxLimit("env.int('MOST')"), 100_000)
  t.is(await maxLimit("env.int('MOST', -1)"), 100_000)
  t.is(await maxLimit("env.int('MOST')", { MOST: '300' }), 300)
  t.is(await maxLimit("env.int('MOST', 250)"), 250)
})

test('code that adds entries to config/plugins is reported as such', async t => {
  const { remarks } = await imported(t, {
    'config/plugins.js': "module.exports = ({ env }) => ({ ...(env('A') === 'b' ? { sentry: true } : {}) })",
  })
  includes(t, remarks, /^lost config\/plugins\.js:1: `config\/plugins` was not read: /)
  t.false(remarks.some(each => each.includes('graphql.enabled')))
  // All settings that are imported come before the code, or after it.
  const all =
    "graphql: { enabled: true, config: {} }, 'users-permissions': { config: { jwt: { expiresIn: '1d' }, register: { allowedFields: [] } } }"
  const upload = "provider: 'local', sizeLimit: 1, providerOptions: { sizeLimit: 2 }"
  const late = await imported(t, {
    'config/plugins.js': `module.exports = ({ env }) => ({
      ...(env('A') === 'b' && { sentry: { enabled: true } }),
      ${all},
      upload: { config: { ${upload}, ...(env('A') === 'b' && { provider: 'aws-s3' }) } },
    })`,
    'config/server.js':
      "module.exports = ({ env }) => ({ port: 1, url: 'https://a.example', host: 'a', proxy: true, dirs: { public: 'p' }, ...(env('A') === 'b' && { port: 2 }) })",
  })
  const found = late.remarks.filter(each => each.includes('the result of code'))
  includes(t, found, /^lost config\/plugins\.js:2: `config\/plugins` was not read: .*sentry/)
  includes(t, found, /^lost config\/plugins\.js:4: `upload\.config` was not read: .*aws-s3/)
  includes(t, found, /^lost config\/server\.js:1: `config\/server` was not read: .*port: 2/)
  t.is(found.length, 3)
})

test('files of public/ are reported, and without users-permissions visitors cannot register', async t => {
  const { out, remarks } = await imported(t, {
    'config/plugins.js': "module.exports = { 'users-permissions': { enabled: false } }",
    'public/robots.txt': 'x',
    'public/uploads/a.txt': 'x',
    'public/fonts/a.woff': 'x',
    'public/logo.svg': 'x',
  })
  includes(t, remarks, /^lost : Strapi served `fonts`, `logo\.svg` of its folder `public` at `\/`/)
  t.false((await settingsOf(t, out, {}))?.auth.register.enabled)
  includes(t, remarks, /users-permissions was disabled/)
})

test('a project without the package of users-permissions has no sign-in, and its roles no permissions', async t => {
  const manifest = { name: 'shop', dependencies: { '@strapi/strapi': '5.12.0' } }
  const files = { 'package.json': manifest }
  const alone = await imported(t, files)
  t.false((await settingsOf(t, alone.out, {}))?.auth.register.enabled)
  includes(
    t,
    alone.remarks,
    /^remark .*does not name `@strapi\/plugin-users-permissions`: visitors could not register/,
  )
  t.false(alone.remarks.some(each => /import with --database, or grant them/.test(each)))

  const synced = await imported(t, { ...files, ...role('public', ['api::note.note.find']) })
  t.deepEqual((await settingsOf(t, synced.out, {}))?.roles.public?.permissions, { auth: {} })

  const plugins =
    "module.exports = { 'users-permissions': { resolve: './node_modules/@strapi/plugin-users-permissions' } }"
  const resolved = await imported(t, { ...files, 'config/plugins.js': plugins })
  t.true((await settingsOf(t, resolved.out, {}))?.auth.register.enabled)
})

test('a project without the plugin i18n has no locales, whatever its schemas say', async t => {
  const localized = { pluginOptions: { i18n: { localized: true } } }
  const dependencies = { '@strapi/strapi': '4.25.1', '@strapi/plugin-users-permissions': '4.25.1' }
  const files = {
    ...type('note', { title: { type: 'string', ...localized }, rank: { type: 'integer' } }, localized),
    'package.json': { name: 'notes', dependencies },
    // A permission that was set while there were locales.
    ...role('public', ['api::note.note.find', 'api::note.note.createLocalization']),
  }
  const grants = async (out: string) =>
    Object.keys((await settingsOf(t, out, {}))?.roles.public?.permissions.note ?? {})
  const written = (more: Parameters<typeof imported>[1]) => imported(t, { ...files, ...more })
  const isLocalized = /\n {4}localized: true\n/
  const without = await written({})
  t.notRegex(without.yaml, /localized|i18n:|locales:/)
  t.deepEqual(await grants(without.out), ['find'])
  includes(
    t,
    without.remarks,
    /^remark .*does not name `@strapi\/plugin-i18n`: `note` had no locales, whatever the schema says/,
  )

  const manifest = { name: 'notes', dependencies: { ...dependencies, '@strapi/plugin-i18n': '4.25.1' } }
  const named = await written({ 'package.json': manifest })
  t.deepEqual(await grants(named.out), ['find', 'createLocalization'])
  t.regex(named.yaml, isLocalized)
  t.regex(named.yaml, /rank: \{ type: integer, localized: false \}/)

  const disabled = 'module.exports = { i18n: { enabled: false } }'
  const off = await written({ 'package.json': manifest, 'config/plugins.js': disabled })
  t.notRegex(off.yaml, isLocalized)
  includes(t, off.remarks, /^remark .*the plugin i18n was disabled in Strapi: `note` had no locales/)

  const five = { name: 'notes', dependencies: { '@strapi/strapi': '5.1.0' } }
  t.regex((await written({ 'package.json': five })).yaml, isLocalized)
})

test('modules of config/ that only code reads, migrations and rules of columns are reported', async t => {
  const { remarks } = await imported(t, {
    ...type('note', {
      title: { type: 'string', searchable: false, column: { unique: true, type: 'text' } },
      body: { type: 'text', searchable: true, column: { type: 'text' } },
    }),
    'config/api.js': "module.exports = { rest: require('./limits') }",
    'config/limits.js': "const { most } = require('./most'); module.exports = { maxLimit: most }",
    'config/most.js': 'module.exports = { most: 50 }',
    'config/shop.js': "module.exports = { currency: 'EUR' }",
    'config/rates.json': { eur: 1 },
    'config/database.js': "module.exports = { connection: { client: 'sqlite' } }",
    'config/env/production/shop.js': "module.exports = { currency: 'USD' }",
    'src/api/note/config/names.js': 'module.exports = {}',
    'database/migrations/2024.01.01.js': 'module.exports = { async up() {} }',
    'database/migrations/.gitkeep': '',
  })
  const code = remarks.flatMap(each => /^code (\S+): /.exec(each)?.[1] ?? [])
  t.deepEqual(code.toSorted(), [
    ...['config/env/production/shop.js', 'config/rates.json', 'config/shop.js'],
    ...['database/migrations/2024.01.01.js', 'src/api/note/config/names.js'],
  ])
  const own = remarks.filter(each => each.startsWith('remark src/api/note/'))
  t.is(own.length, 2, own.join('\n'))
  includes(t, own, /without a counterpart: `column\.unique`$/)
  includes(t, own, /`searchable: false`: `_q` finds documents by this attribute, too$/)
})

test('a public path without a host is no lost content, and leaves the address to the project', async t => {
  for (const [url, expected] of [
    ["'/cms'", 'http://localhost:1400'],
    ["env('PUBLIC_URL', '/cms')", 'http://localhost:1400'],
    ["env('PUBLIC_URL', 'https://cms.example.org')", 'https://cms.example.org'],
    ["''", 'http://localhost:1400'],
  ] as const) {
    const { out, remarks } = await imported(t, {
      'config/server.js': `module.exports = ({ env }) => ({ port: 1400, url: ${url} })`,
    })
    t.is((await settingsOf(t, out, {}))?.server.url, expected, url)
    const named = remarks.filter(each => each.includes('has no host'))
    t.deepEqual(named.length, url.includes("'/cms'") ? 1 : 0, url)
    t.true(named.every(each => each.startsWith('remark config/server.js:1: `/cms` in Strapi')))
    t.false(remarks.some(each => each.includes('`url` is left out')))
  }
})

test('generated routes that a file lists one by one are read, as projects from Strapi 3 have them', async t => {
  const route = (method: string, path: string, handler: string, config = '{ policies: [] }') =>
    `{ method: '${method}', path: '${path}', handler: '${handler}', config: ${config} }`
  const list = (...routes: readonly string[]) => `module.exports = { routes: [${routes.join(', ')}] }`
  const grants = ['note', 'page', 'tag', 'area'].flatMap(name =>
    ['find', 'create', 'delete'].map(action => ({ action: `api::${name}.${name}.${action}` })),
  )
  const { out, remarks } = await imported(t, {
    ...type('page', { title: { type: 'string' } }),
    ...type('tag', { title: { type: 'string' } }),
    ...type('area', { title: { type: 'string' } }),
    ...type('home', { title: { type: 'string' } }, { kind: 'singleType' }),
    'src/api/note/routes/note.js': list(
      route('GET', '/notes', 'note.find', '{ auth: false }'),
      route('POST', '/notes', 'api::note.note.create', "{ policies: ['is-owner'] }"),
    ),
    'src/api/page/routes/page.js': list(
      route('GET', '/pages', 'page.find'),
      route('GET', '/pages/count', 'page.count'),
    ),
    'src/api/tag/routes/tag.js': "module.exports = createCoreRouter('api::tag.tag', { except: ['delete'] })",
    'src/api/tag/routes/more.js': list(route('DELETE', '/tags/:id', 'tag.delete')),
    'src/api/area/routes/area.js': "module.exports = createCoreRouter('api::area.area')",
    'src/api/area/routes/open.js': list(route('GET', '/areas', 'area.find')),
    'src/api/home/routes/home.js': list(
      route('GET', '/home', 'home.find'),
      route('PUT', '/home', 'home.update'),
      route('DELETE', '/home', 'home.delete'),
    ),
    'config/sync/user-role.public.json': { name: 'Public', type: 'public', permissions: grants },
  })
  const settings = await settingsOf(t, out, {})
  const granted = settings?.roles.public?.permissions ?? {}
  t.deepEqual(
    ['note', 'page', 'tag', 'area'].map(key => Object.keys(granted[key] ?? {})),
    [['find', 'create'], ['find'], ['find', 'create'], ['find', 'create', 'delete']],
  )
  t.deepEqual(settings?.routesConfig['note.find']?.auth, false)
  includes(t, remarks, /^lost src\/api\/note\/routes\/note\.js:1: Strapi asked these policies.*is-owner/)
  const routes = remarks.flatMap(each => /^code (src\/api\/\S+\/routes\/\S+): /.exec(each)?.[1] ?? [])
  t.deepEqual(routes.toSorted(), [
    ...['src/api/area/routes/open.js', 'src/api/page/routes/page.js', 'src/api/tag/routes/more.js'],
  ])
  includes(t, remarks, /^remark src\/api\/page\/\S+: Strapi had only the routes `find`: no role/)
  t.false(remarks.some(each => /api\/home\//.test(each)))
})
