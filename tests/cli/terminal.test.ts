import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { openStartScreen } from '../../tools/cli/terminal.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { PLINTH } from '../harness/program.ts'

const PROJECT = `name: Notes
contentTypes: { note: { attributes: { text: string } }, draft: { attributes: { text: string } } }
roles: { public: { permissions: { note: [find] } } }
`

function plinth(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...PLINTH, ...words], {
    encoding: 'utf8',
    timeout: 90_000,
  })
  return { code: status, out: stdout, complaint: stderr }
}

function projectOf(t: ExecutionContext, text = PROJECT): string {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  folder.write('project.yaml', text)
  return folder.path
}

/** A server that has printed its addresses. */
async function started(t: ExecutionContext, folder: string) {
  const child = spawn(
    process.execPath,
    [...PLINTH, 'start', folder, '--port', '0', '--database', 'embedded'],
    {
      env: { ...process.env, NODE_ENV: 'development', HOST: '127.0.0.1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  t.teardown(() => child.kill('SIGKILL'))
  let shown = ''
  child.stderr.on('data', part => {
    shown += String(part)
  })
  while (!/\n {2}REST .*\n(?: {2}GraphQL .*\n)?\n/.test(shown)) await once(child.stderr, 'data')
  return { child, shown: () => shown }
}

test('start names no address of GraphQL where it is off', async t => {
  const { shown } = await started(t, projectOf(t, `${PROJECT}graphql: { enabled: false }\n`))
  t.notRegex(shown(), /GraphQL/)
})

test('start prints its steps, the database and its addresses, and the effect of Ctrl-C', async t => {
  const { child, shown: all } = await started(t, projectOf(t))
  const shown = all()
  t.regex(
    shown,
    /^Plinth [\d.]+: reading the project …\nDatabase: embedded, not created yet \(development\)\nCreating the database …\n/,
  )
  t.regex(
    shown,
    /\n {2}Notes\n {2}Mode +development\n {2}Database +embedded in .*\n {2}Project +2 content-types, 0 components, /,
  )
  const addresses = [...shown.matchAll(/http:\S+/g)].map(([address]) => address)
  t.deepEqual(
    addresses.map(address => new URL(address).pathname),
    ['/', '/api/reference', '/api/notes', '/graphql'],
  )
  for (const address of addresses)
    t.is((await fetch(address, { headers: { accept: 'text/html' } })).status, 200, address)
  t.false(shown.includes(ESCAPE))
  child.kill('SIGINT')
  await once(child, 'exit')
  t.is(child.exitCode, 0)
  t.regex(
    all(),
    /Stopping: requests in progress are answered, for at most \d+ s\. A second Ctrl-C ends them at once\.\n$/,
  )
})

const ESCAPE = '\u001B'
const CLEAR = `\r${ESCAPE}[2K`

test('a terminal shows a one-line spinner, which does not mix with log lines and respects NO_COLOR', t => {
  const written: string[] = []
  const screen = { isTTY: true, columns: 30, write: (text: string) => void written.push(text) }
  const shown = openStartScreen(screen, { NO_COLOR: '1' })
  t.true(written.join('').startsWith(`${CLEAR}⠋ Plinth `))
  t.true(written.join('').length <= 30 + CLEAR.length)
  shown.clear()
  t.is(written.at(-1), CLEAR)
  shown.say('done\n')
  t.is(written.at(-1), 'done\n')
  t.false(written.join('').includes(`${ESCAPE}[3`))
  written.length = 0
  openStartScreen(screen, {}).say('')
  t.true(written.join('').includes(`${ESCAPE}[32m⠋${ESCAPE}[39m`))
})

const COMMANDS = [
  '',
  'check',
  'client',
  'test',
  'review',
  'openapi',
  'types',
  'user',
  'token',
  'init',
  'start',
  'plan',
  'migrate',
  'doctor',
  'export',
  'import',
]
const INNER = [
  'import strapi',
  'roles',
  'roles explain',
  'roles diff',
  'completion',
  'roles who',
  'user list',
  'user add',
  'user role',
  'user block',
  'user unblock',
]

test('the help of every command has examples with valid options', t => {
  const names = plinth('--help')
    .out.match(/^ {2}([a-z]+)(?= )/gm)
    ?.map(name => name.trim())
  t.deepEqual(
    names?.filter(name => name !== 'help').toSorted(),
    [...COMMANDS, ...INNER].filter(name => /^\w+$/.test(name)).toSorted(),
  )
  for (const command of [...COMMANDS, ...INNER]) {
    const { out } = plinth(...command.split(' ').filter(Boolean), '--help')
    const [before = '', examples = ''] = out.split('\nExamples:\n')
    const lines = examples.trim().split('\n')
    t.true(lines.length > 0 && lines.every(line => line.includes(`plinth ${command}`)), command)
    if (command === '') continue
    for (const [option] of examples.matchAll(/ --[a-z-]+/g)) t.true(before.includes(option.trim()), option)
  }
})

/** The completions that bash offers for a line. */
function completed(script: string, line: string): readonly string[] {
  const words = line.split(' ')
  const quoted = words.map(word => `'${word}'`).join(' ')
  const program = `${script}\nCOMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _plinth; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout } = spawnSync('bash', ['-c', program], {
    cwd: join(import.meta.dirname, 'example'),
    encoding: 'utf8',
  })
  return stdout.split('\n').filter(Boolean)
}

test('bash completes commands, subcommands, options, their values and files', t => {
  const script = plinth('completion', 'bash').out
  t.deepEqual(completed(script, 'plinth mi'), ['migrate'])
  t.deepEqual(completed(script, 'plinth roles ex'), ['explain'])
  t.deepEqual(completed(script, 'plinth start --po'), ['--port'])
  t.deepEqual(completed(script, 'plinth init --template s'), ['shop'])
  t.deepEqual(completed(script, 'plinth import strapi --arch'), ['--archive'])
  t.deepEqual(completed(script, 'plinth check proj'), ['project.yaml'])
})

test('the completion script of every shell is valid for its installed shell; an unknown shell is an error', t => {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out } = plinth('completion', shell)
    t.is(code, 0)
    for (const word of ['migrate', 'explain', 'replace-others'])
      t.true(out.includes(word), `${shell}: ${word}`)
    folder.write(shell, out)
    const words = [shell === 'fish' ? '--no-execute' : '-n', join(folder.path, shell)]
    const parsed = spawnSync(shell, words, { encoding: 'utf8' })
    if (parsed.error === undefined) t.is(parsed.stderr, '', shell)
  }
  t.regex(plinth('completion', 'tcsh').complaint, /Allowed choices are bash, zsh, fish/)
})
