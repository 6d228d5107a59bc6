import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { compileAccess } from '../../core/access/compile/compile-access.ts'
import { RequestFault } from '../../core/faults/fault.ts'
import { apiTokenStrategy } from '../../core/identity/identify.ts'
import { runToken, type TokenOptions } from '../../tools/cli/token.ts'
import { load, passed } from '../access/project.ts'
import { PLINTH } from '../harness/program.ts'

const NOW = Date.parse('2030-01-01T00:00:00Z')

function make(options: Partial<TokenOptions> = {}) {
  const out: string[] = []
  const complaint: string[] = []
  const code = runToken({
    name: 'website',
    type: 'read-only',
    json: false,
    now: NOW,
    write: text => void out.push(text),
    writeError: text => void complaint.push(text),
    ...options,
  })
  return { code, out: out.join(''), complaint: complaint.join('') }
}

const tokenIn = (out: string): string => /^ {2}(plinth_[\w-]{43})$/m.exec(out)?.[1] ?? ''
const yamlIn = (out: string): string => out.slice(out.indexOf('apiTokens:'))

/** The caller that a project with these lines derives from a token. */
async function knownBy(yaml: string, token: string, now = NOW): Promise<string> {
  const { project, model } = await load(
    `name: Tokens\ncontentTypes: { page: { attributes: { title: string } } }\n${yaml}`,
  )
  const access = passed(compileAccess(project, model))
  try {
    const found = await apiTokenStrategy(project.settings.apiTokens, access, () => now)(token)
    return found ? found.grants.name : 'anonymous'
  } catch (error) {
    if (error instanceof RequestFault) return error.message
    throw error
  }
}

for (const type of ['read-only', 'full-access', 'custom'] as const) {
  test(`the printed lines for a ${type} token authenticate it without containing it`, async t => {
    const { code, out } = make({ type })
    t.is(code, 0)
    const [token, yaml] = [tokenIn(out), yamlIn(out)]
    t.is(out.split(token).length, 2, 'it is printed once')
    t.false(yaml.includes(token))
    t.is(await knownBy(yaml, token), 'website')
    t.is(await knownBy(yaml, `${token.slice(0, -1)}_`), 'anonymous')
    t.is(await knownBy(yaml, token, NOW * 100), 'website')
  })
}

test('a token expires at the given time', async t => {
  const { out } = make({ expires: '90d' })
  const [token, yaml] = [tokenIn(out), yamlIn(out)]
  t.true(yaml.includes('expiresAt: "2030-04-01T00:00:00.000Z"'), yaml)
  t.is(await knownBy(yaml, token, Date.parse('2030-03-31T23:59:59.999Z')), 'website')
  t.is(await knownBy(yaml, token, Date.parse('2030-04-01T00:00:00.000Z')), 'Token expired')
})

test('two tokens are never the same', t => {
  t.not(tokenIn(make().out), tokenIn(make().out))
})

test('--json prints one line', t => {
  const { out } = make({ json: true, expires: '12h', type: 'full-access' })
  const { token, hash, ...reported } = JSON.parse(out)
  t.is(out.trimEnd().split('\n').length, 1)
  t.regex(token, /^plinth_[\w-]{43}$/)
  t.regex(hash, /^sha256:[0-9a-f]{64}$/)
  t.deepEqual(reported, { name: 'website', type: 'full-access', expiresAt: '2030-01-01T12:00:00.000Z' })
})

for (const [terms, words] of [
  [{ name: 'web site' }, /no name for a token/],
  [{ name: '1st' }, /no name for a token/],
  [{ name: 'a: { type: full-access }\n  b' }, /no name for a token/],
  [{ expires: '90' }, /no time to live/],
  [{ expires: '0d' }, /no time to live/],
  [{ expires: '-1d' }, /no time to live/],
  [{ expires: 'soon' }, /no time to live/],
  [{ expires: '9000000d' }, /longer than any calendar/],
  [{ expires: `${'9'.repeat(400)}d` }, /longer than any calendar/],
] as const) {
  test(`invalid terms create no token: ${JSON.stringify(terms).slice(0, 60)}`, t => {
    const { code, out, complaint } = make(terms)
    t.is(code, 1)
    t.is(out, '')
    t.regex(complaint, words)
  })
}

test('the command line accepts every kind of token', async t => {
  const root = resolve(import.meta.dirname, '..', '..')
  const plinth = (...options: readonly string[]) =>
    promisify(execFile)(process.execPath, [...PLINTH, 'token', ...options], {
      cwd: root,
      timeout: 60_000,
    })
  const { stdout } = await plinth('nightly', '--type', 'custom', '--expires', '30d')
  t.regex(stdout, /\n {2}nightly:\n {4}type: custom\n {4}hash: "sha256:[0-9a-f]{64}"\n {4}expiresAt: "/)
  const refused = await t.throwsAsync<Error & { readonly code?: number; readonly stderr?: string }>(
    plinth('nightly', '--type', 'root'),
  )
  t.is(refused?.code, 1)
  t.regex(String(refused?.stderr), /read-only, full-access, custom/)
})
