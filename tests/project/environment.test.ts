import test from 'ava'
import { faultsOf, load, loadGood } from './load.ts'

test('a variable is converted to the number, boolean or text that its key expects', async t => {
  const { settings } = await loadGood(
    `name: "\${A}-\${B}"
server: { port: "\${PORT}", trustProxy: "\${YES}", metrics: { port: "\${NONE:-}" }, rateLimit: { api: "\${OFF}" } }
contentTypes: { a: { attributes: { code: { type: string, default: "\${PORT}" }, rank: { type: float, default: "\${RATE}" } } } }
`,
    { A: 'x', B: '2', PORT: '080', YES: 'TRUE', OFF: 'false', RATE: '0.5' },
  )
  t.is(settings.name, 'x-2')
  t.is(settings.server.port, 80)
  t.is(settings.server.trustProxy, true)
  t.is(settings.server.metrics.port, null)
  t.is(settings.server.rateLimit.api, false)
  const { code, rank } = settings.contentTypes.a?.attributes ?? {}
  t.like(code, { default: '080' })
  t.like(rank, { default: 0.5 })
})

test('a variable may be a boolean or a word where a key takes both', async t => {
  const withCount = async (value: string) =>
    (await loadGood('name: a\nrest: { withCount: "${COUNT}" }\n', { COUNT: value })).settings.rest.withCount
  t.is(await withCount('false'), false)
  t.is(await withCount('true'), true)
  t.is(await withCount('estimate'), 'estimate')
  const faults = await faultsOf('name: a\nrest: { withCount: "${COUNT}" }\n', { COUNT: 'some' })
  t.regex(JSON.stringify(faults), /expected one of `true`, `false`, `estimate`/)
})

test('the value of a variable is never parsed as YAML or substituted again', async t => {
  const { settings } = await loadGood('name: ${A}\n', { A: '{ b: *c } # ${HOME}' })
  t.is(settings.name, '{ b: *c } # ${HOME}')
})

test('a fallback replaces an unset or empty variable; two dollars are a literal one', async t => {
  const { settings } = await loadGood('name: "${A:-a} ${B:-b} ${C:-c} ${D:-} $${A} $5"\n', {
    B: '',
    C: 'set',
  })
  t.is(settings.name, 'a b set  ${A} $5')
})

test('keys are never substituted', async t => {
  t.deepEqual(await faultsOf('name: A\n${KEY}: 1\n', { KEY: 'rest' }), [
    'project.yaml:2:1 unknown key `${KEY}`: the keys here are `name`, `include`, `server`, `database`, `i18n`, `rest`, `console`, `graphql`, `cache`, `middlewares`, `policyTimeout`, `components`, `contentTypes`, `user`, `roles`, `apiTokens`, `routesConfig`, `resolversConfig`, `auth`, `upload` (["${KEY}"])',
  ])
})

test('a quoted text is not a number unless a variable produced it', async t => {
  t.deepEqual(await faultsOf('name: A\nserver: { port: "80" }\n'), [
    'project.yaml:2:17 expected a whole number, found "80": write `80` without quotes (server.port)',
  ])
})

test('real variables override .env', async t => {
  const files = { 'project.yaml': 'name: "${A} ${B}"\n', '.env': '# names\nA=file\nB="also file"\n' }
  t.is((await loadGood(files, { A: 'real' })).settings.name, 'real also file')
})

test('a line of .env without `=`, which would swallow the next variable, is a fault that does not quote it', async t => {
  const file = [
    '# names',
    '',
    'A="two',
    'lines: of',
    'text"',
    "export B='x'",
    'D.e-f=1',
    'SECRET: hunter2',
    'C=1',
    'E="open',
    'F',
  ]
  const message =
    'expected `NAME=value`, or `#` and a comment: without it the next variable would be lost, too'
  t.deepEqual(await faultsOf({ 'project.yaml': 'name: A\n', '.env': file.join('\r\n') }), [
    `.env:8:1 ${message}`,
    `.env:11:1 ${message}`,
  ])
})

test('a variable with the name of an Object.prototype member is not set', async t => {
  t.deepEqual(await faultsOf('name: "${constructor}"\n'), [
    'project.yaml:1:7 the environment variable `constructor` is not set: set it, or give a fallback with `${constructor:-…}` (name)',
  ])
})

const VARIABLES = {
  HOST: '127.0.0.9',
  PORT: '4000',
  DATABASE_URL: 'postgres://one/shop',
  REPLICA_URLS: 'postgres://two/shop, postgres://three/shop?x=${HOST}',
  JWT_SECRET: 'a secret of the environment, ${PORT} letters long',
}

test('five variables are defaults of keys that the file does not set', async t => {
  for (const file of ['name: A\n', 'name: A\nserver:\ndatabase: { replicaLag: 1s }\n']) {
    const { settings } = await loadGood(file, VARIABLES)
    const { host, port } = settings.server
    t.deepEqual({ host, port }, { host: '127.0.0.9', port: 4000 })
    t.is(settings.database.url, 'postgres://one/shop')
    t.deepEqual(settings.database.replicas, ['postgres://two/shop', 'postgres://three/shop?x=${HOST}'])
    t.is(settings.auth.jwtSecret, VARIABLES.JWT_SECRET)
  }
})

test('a key of the file or of an included file overrides its variable', async t => {
  const { settings } = await loadGood(
    {
      'project.yaml':
        'name: A\ninclude: [b.yaml]\nserver: { port: 80 }\ndatabase: { url: embedded, replicas: [] }\n',
      'b.yaml': 'auth: { jwtSecret: of the file with more than thirty-two letters }\n',
    },
    VARIABLES,
  )
  t.is(settings.server.port, 80)
  t.is(settings.database.url, 'embedded')
  t.deepEqual(settings.database.replicas, [])
  t.is(settings.auth.jwtSecret, 'of the file with more than thirty-two letters')
  t.is((await loadGood('name: A\n', { PORT: '', HOST: '' })).settings.server.port, 1337)
})

test('the public URL has the port, unless the file sets it', async t => {
  const urlOf = async (server: string, PORT: string) =>
    (await loadGood(`name: A\n${server}`, { PORT })).settings.server.url
  t.is(await urlOf('', ''), 'http://localhost:1337')
  t.is(await urlOf('', '4000'), 'http://localhost:4000')
  t.is(await urlOf('server: { port: 80 }\n', '4000'), 'http://localhost:80')
  t.is(await urlOf('server: { url: "http://localhost:1337/" }\n', '4000'), 'http://localhost:1337')
  t.is(await urlOf('server: { port: 0 }\n', ''), 'http://localhost:1337')
})

test('an invalid variable is reported by name, with its secret masked', async t => {
  const [port = '', url = ''] = (await load('name: A\n', {
    PORT: 'http',
    DATABASE_URL: 'mysql://a:hidden@b/c',
  })) as string[]
  t.regex(port, /^the environment:2:9 .*whole number.*\(server\.port\)\n.*port: \$\{PORT\}/)
  t.regex(url, /^the environment:4:8 .*\(database\.url\)/)
  t.false(url.includes('hidden'))
  t.deepEqual(await faultsOf('name: A\nserver: 5\n', { PORT: '80' }), [
    'project.yaml:2:9 expected a mapping, found 5 (server)',
  ])
})

test('command-line options override the file and the environment, and errors name them', async t => {
  const text =
    'name: A\nserver: { port: 4000, host: 127.0.0.8 }\ndatabase: { url: "postgres://a/b", replicas: ["postgres://c/b"], preparedStatements: false }\n'
  const options = { PLINTH_PORT: '5000', PLINTH_DATABASE: 'embedded', PLINTH_HOST: '127.0.0.7', PORT: '6000' }
  const { settings, writtenAt } = await loadGood(text, options)
  t.like(settings.server, { port: 5000, host: '127.0.0.7' })
  t.like(settings.database, { url: 'embedded', preparedStatements: false })
  t.deepEqual(settings.database.replicas, [])
  t.like(writtenAt(['server', 'port']), {
    location: { file: 'the command line' },
    variables: ['PLINTH_PORT'],
  })
  t.is(writtenAt(['server', 'requestTimeout']), null)
  const EMPTY = /project\.yaml:1:1 the file is empty/
  for (const env of [options, { PORT: '6000', DATABASE_URL: 'embedded' }, {}])
    t.regex((await faultsOf('# nothing\n', env)).join(), EMPTY)
  t.regex(
    (await faultsOf('name: A\n', { PLINTH_PORT: 'x' })).join(),
    /^the command line:2:9 .*found the value of `--port` \(server\.port/,
  )
})
