import test from 'ava'
import { faultsOf, loadGood } from './load.ts'

test('a variable becomes the number, the truth value or the text that its key wants', async t => {
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

test('the value of a variable is never parsed as YAML, and never substituted again', async t => {
  const { settings } = await loadGood('name: ${A}\n', { A: '{ b: *c } # ${HOME}' })
  t.is(settings.name, '{ b: *c } # ${HOME}')
})

test('a fallback replaces a variable that is not set or empty; two dollars are one', async t => {
  const { settings } = await loadGood('name: "${A:-a} ${B:-b} ${C:-c} ${D:-} $${A} $5"\n', {
    B: '',
    C: 'set',
  })
  t.is(settings.name, 'a b set  ${A} $5')
})

test('keys are never substituted', async t => {
  t.deepEqual(await faultsOf('name: A\n${KEY}: 1\n', { KEY: 'rest' }), [
    'project.yaml:2:1 unknown key `${KEY}` (["${KEY}"])',
  ])
})

test('a quoted text is not a number unless a variable made it', async t => {
  t.deepEqual(await faultsOf('name: A\nserver: { port: "80" }\n'), [
    'project.yaml:2:17 expected a whole number, found "80" (server.port)',
  ])
})

test('real variables override .env', async t => {
  const files = { 'project.yaml': 'name: "${A} ${B}"\n', '.env': '# names\nA=file\nB="also file"\n' }
  t.is((await loadGood(files, { A: 'real' })).settings.name, 'real also file')
})

test('a variable named like a member of every object is not set', async t => {
  t.deepEqual(await faultsOf('name: "${constructor}"\n'), [
    'project.yaml:1:7 the environment variable `constructor` is not set: set it, or give a fallback with `${constructor:-…}` (name)',
  ])
})
