import { join } from 'node:path'
import test from 'ava'
import { readProjectSchema } from '../../core/project/grammar/project-schema.ts'
import { loadProject } from '../../core/project/load-project.ts'
import { FREQUENT_LANGUAGES } from '../../core/project/settings/derive-defaults.ts'
import { faultsOf, loadGood } from './load.ts'

test('the settings of the conformance project equal its file', async t => {
  const loaded = await loadProject(join(import.meta.dirname, '../conformance/project'), { PORT: '1500' })
  if (!loaded.ok) return t.fail(loaded.reasons[0]?.message)
  const { settings } = loaded.value
  t.is(settings.server.port, 1500)
  t.deepEqual(Object.keys(settings.contentTypes), [
    'category',
    'author',
    'article',
    'restaurant',
    'dish',
    'country',
    'capital',
    'homepage',
    'setting',
  ])
  t.deepEqual(
    settings.i18n.locales.map(({ name }) => name),
    ['English (en)', 'French (fr)', 'Italian (it)'],
  )
  t.is(settings.apiTokens.expired?.expiresAt, '2020-01-01T00:00:00.000Z')
})

test('an attribute may be declared by its type alone', async t => {
  const types = readProjectSchema().$defs?.shortAttribute?.enum ?? []
  t.true(types.length >= 19)
  const attributes = types.map(type => `      a_${type}: ${type}`)
  const project = await loadGood(
    `name: A\ncontentTypes:\n  thing:\n    attributes:\n${attributes.join('\n')}\n`,
  )
  const declared = project.settings.contentTypes.thing?.attributes ?? {}
  t.deepEqual(declared.a_text, {
    type: 'text',
    required: false,
    private: false,
    writable: true,
    unique: false,
  })
  t.deepEqual(declared.a_uid, {
    type: 'uid',
    required: false,
    private: false,
    writable: true,
    generate: false,
  })
  t.deepEqual(declared.a_media, {
    ...{ type: 'media', multiple: false, allowedTypes: ['images', 'videos', 'audios', 'files'] },
    ...{ required: false, private: false, writable: true },
  })
})

test('a name of an inherited property, such as `constructor`, is a word like any other', async t => {
  t.deepEqual(
    await faultsOf('name: A\nupload: { provider: constructor, providerOptions: { a: 1 } }\n'),
    [],
    'only the extensions know the storages',
  )
  t.deepEqual(
    await faultsOf(
      'name: A\ncontentTypes: { a: { draftAndPublish: constructor, attributes: { b: string } } }\n',
    ),
    ['project.yaml:2:39 expected true or false, found "constructor" (contentTypes.a.draftAndPublish)'],
  )
})

test('all forms of permissions are normalised to a mapping by action', async t => {
  const { settings } = await loadGood(`name: A
roles:
  a:
    permissions:
      article: [find, findOne]
      "*": "*"
      page: { find: true, update: false, create: { set: { owner: $user.id } } }
`)
  t.deepEqual(settings.roles.a?.permissions, {
    article: { find: true, findOne: true },
    '*': { '*': true },
    page: { find: true, update: false, create: { set: { owner: '$user.id' } } },
  })
})

test('the roles public and authenticated always exist, with the names of Strapi', async t => {
  const { settings } = await loadGood('name: A\nroles: { chief-editor: { extends: authenticated } }\n')
  t.deepEqual(settings.roles, {
    public: {
      name: 'Public',
      description: 'Default role given to unauthenticated user.',
      extends: [],
      console: [],
      permissions: {},
    },
    authenticated: {
      name: 'Authenticated',
      description: 'Default role given to authenticated user.',
      extends: [],
      console: [],
      permissions: {},
    },
    'chief-editor': {
      name: 'Chief-editor',
      description: '',
      extends: ['authenticated'],
      console: [],
      permissions: {},
    },
  })
})

test('durations are in milliseconds and sizes in bytes; only a plain window is in seconds', async t => {
  const { settings } = await loadGood(`name: A
server: { requestTimeout: 250, slowQuery: 1.5s, bodyLimit: 1kb, rateLimit: { api: { window: 30, max: 1 }, auth: { window: 2m }, account: { max: 7 } } }
auth: { jwtExpiresIn: 30d }
cache: { maxBytes: 4096 }
policyTimeout: 500ms
upload: { sizeLimit: 1.5 MB }
`)
  const { server, auth, cache, upload, policyTimeout } = settings
  t.deepEqual(
    [server.requestTimeout, server.slowQuery, policyTimeout, auth.jwtExpiresIn],
    [250, 1500, 500, 2_592_000_000],
  )
  t.deepEqual([server.bodyLimit, cache.maxBytes, upload.sizeLimit], [1024, 4096, 1_572_864])
  t.deepEqual(server.rateLimit, {
    api: { window: 30_000, max: 1, tokenMax: 1, privateNetworks: true },
    auth: { window: 120_000, max: 10 },
    account: { window: 3_600_000, max: 7 },
  })
})

test('all durations that timers use are at most 24 days', async t => {
  const faults = await faultsOf(`name: A
policyTimeout: 30d
server: { requestTimeout: 30d, stallTimeout: 30d, slowQuery: 30d }
database: { replicaLag: 30d, pool: { idle: 30d, acquire: 30d }, startTimeout: 30d, statementTimeout: 30d, limits: { time: 30d } }
graphql: { config: { limits: { time: 30d } } }
auth: { jwtExpiresIn: 60d }
`)
  t.is(faults.length, 11)
  for (const fault of faults) t.true(fault.includes('the duration is too long: at most 24d'), fault)
})

test('the names of frequent languages are those of Intl', t => {
  const names = new Intl.DisplayNames(['en'], { type: 'language' })
  for (const [code, name] of FREQUENT_LANGUAGES) t.true(names.of(code) === name, code)
})

test('locales have names; references to modules have options', async t => {
  const { settings } = await loadGood(`name: A
i18n: { locales: [en, fr-FR, zh-Hans, { code: de, name: Deutsch }] }
middlewares: [helmet, { name: log }, { name: cut, options: [1] }]
graphql: { config: { serverOptions: { tracing: false } } }
`)
  t.deepEqual(
    settings.i18n.locales.map(({ name }) => name),
    ['English (en)', 'French (France) (fr-FR)', 'Simplified Chinese (zh-Hans)', 'Deutsch'],
  )
  t.deepEqual(settings.middlewares, [
    { name: 'helmet', options: null },
    { name: 'log', options: null },
    { name: 'cut', options: [1] },
  ])
  t.deepEqual(settings.graphql.config.serverOptions, {
    ...{ tracing: false, cache: 'bounded', allowBatchedHttpRequests: true },
    ...{ csrfPrevention: true, includeStacktraceInErrorResponses: false },
  })
})

test('a loaded project is immutable', async t => {
  const project = await loadGood('name: A\ncontentTypes: { article: { attributes: { title: string } } }\n')
  t.throws(() => Object.assign(project.settings.contentTypes.article?.attributes ?? {}, { more: {} }), {
    instanceOf: TypeError,
  })
  t.throws(() => Object.assign(project, { root: '/' }), { instanceOf: TypeError })
})

test('a limit that is not set is adjusted to the limit that is set', async t => {
  const limitsOf = async (rest: string, config: string) => {
    const { settings } = await loadGood(`name: A\nrest: ${rest}\ngraphql: { config: ${config} }\n`)
    const { defaultLimit, maxLimit } = settings.rest
    const { defaultLimit: usual, amountLimit } = settings.graphql.config
    return [defaultLimit, maxLimit, usual, amountLimit]
  }
  t.deepEqual(await limitsOf('{}', '{}'), [25, 100, 10, 100])
  t.deepEqual(await limitsOf('{ maxLimit: 5 }', '{ amountLimit: 5 }'), [5, 5, 5, 5])
  t.deepEqual(await limitsOf('{ defaultLimit: 200 }', '{ defaultLimit: 200 }'), [200, 200, 200, 200])
  t.deepEqual(await limitsOf('{ maxLimit: 50 }', '{ amountLimit: 50 }'), [25, 50, 10, 50])
})

test('a single locale is the default one', async t => {
  const { settings } = await loadGood('name: A\ni18n: { locales: [fr] }\n')
  t.is(settings.i18n.defaultLocale, 'fr')
})

test('requests are limited by default; a configured limit also applies to private addresses', async t => {
  const apiOf = async (api: string) => (await loadGood(`name: A\n${api}`)).settings.server.rateLimit.api
  const usual = { window: 60_000, max: 12_000, tokenMax: 120_000, privateNetworks: false }
  t.deepEqual(await apiOf(''), usual)
  t.is(await apiOf('server: { rateLimit: { api: false } }'), false)
  t.deepEqual(await apiOf('server: { rateLimit: { api: { max: 7 } } }'), {
    ...{ window: 60_000, max: 7, tokenMax: 7, privateNetworks: true },
  })
})
