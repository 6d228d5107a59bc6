import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { freePort } from '../harness/free-port.ts'
import { PLINTH } from '../harness/program.ts'

const ROOT = join(import.meta.dirname, '..', '..')

function folderOf(t: ExecutionContext): Folder {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  return folder
}

/** Runs `plinth init` in its own process. */
function init(cwd: string, ...words: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...PLINTH, 'init', '--no-install', ...words],
    { cwd, encoding: 'utf8', timeout: 180_000 },
  )
  return { code: status, out: stdout, complaint: stderr }
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(path => /\.\w+$|file$/.test(path))
    .sort()

for (const template of ['blank', 'blog', 'shop', 'example'])
  test(`the template ${template} is a valid project with every file of a project`, t => {
    const folder = folderOf(t)
    const { code, out } = init(folder.path, 'my-api', '--template', template)
    t.is(code, 0)
    t.regex(out, /cd my-api\n {2}npm install\n {2}npm run dev\n/)
    const root = join(folder.path, 'my-api')
    const files = filesIn(root)
    const shared = [
      'package.json',
      'project.yaml',
      '.env.example',
      '.gitignore',
      'tsconfig.json',
      'Dockerfile',
    ]
    for (const file of [...shared, 'compose.yaml', '.github/workflows/ci.yml'])
      t.true(files.includes(file), file)
    for (const [part, kind] of Object.entries({
      content: 'yaml',
      policies: 'ts',
      extensions: 'ts',
      tests: 'test.ts',
    }))
      t.true(
        files.some(file => file.startsWith(`${part}/`) && file.endsWith(`.${kind}`)),
        part,
      )
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    t.is(manifest.type, 'module')
    t.deepEqual(Object.keys(manifest.scripts), ['dev', 'start', 'check', 'test', 'types'])
    const project = readFileSync(join(root, 'project.yaml'), 'utf8')
    t.regex(project, /^# yaml-language-server: \$schema=\.\/node_modules\/plinth\/project\.schema\.json\n/)
    t.regex(project, /^name: "my-api"$/m)
    t.is(spawnSync(process.execPath, [...PLINTH, 'check', root], { encoding: 'utf8' }).stderr, '')
    t.is(spawnSync(process.execPath, [...PLINTH, 'check', root]).status, 0)
  })

test('a folder with files is refused with their names, and nothing is changed', t => {
  const folder = folderOf(t)
  folder.write('api/README.md', 'mine')
  folder.write('api/.git/HEAD', 'ref: refs/heads/main')
  const { code, complaint } = init(folder.path, 'api')
  t.is(code, 1)
  t.regex(complaint, /is not empty, and no file is overwritten; it contains:\n {2}README\.md\n/)
  t.notRegex(complaint, /\.git\n/)
  t.deepEqual(readdirSync(join(folder.path, 'api')).sort(), ['.git', 'README.md'])
  t.is(readFileSync(join(folder.path, 'api', 'README.md'), 'utf8'), 'mine')
  folder.write('file', '')
  t.regex(init(folder.path, 'file').complaint, /is a file/)
})

test('a link to a missing folder, and a file system without new folders, are refused with a sentence', t => {
  const folder = folderOf(t)
  symlinkSync(join(folder.path, 'nowhere'), join(folder.path, 'api'))
  t.deepEqual(init(folder.path, 'api'), {
    code: 1,
    out: '',
    complaint: `${join(folder.path, 'api')} is a symbolic link to ${join(folder.path, 'nowhere')}, which does not exist; create that folder, or name another one\n`,
  })
  if (process.platform !== 'linux') return
  t.is(
    init(folder.path, '/proc/self/api').complaint,
    'The project was not created: the file system of /proc/self takes no new folder\n',
  )
  folder.write('notes/project.yaml', 'name: Notes\n')
  const client = [...PLINTH, 'client', join(folder.path, 'notes'), '--out', '/proc/self/api/client.ts']
  const { status, stderr } = spawnSync(process.execPath, client, { encoding: 'utf8', timeout: 180_000 })
  t.is(status, 1)
  t.regex(stderr, /mkdir '\/proc\/self\/api'/)
})

test('an empty folder or a new git repository becomes a project named after the folder', t => {
  const folder = folderOf(t)
  folder.write('my-api/.git/HEAD', 'ref: refs/heads/main')
  const root = join(folder.path, 'my-api')
  const { code, out } = init(root)
  t.is(code, 0)
  t.regex(out, /in this folder\n/)
  t.is(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).name, 'my-api')
  t.is(init(root).code, 1)
})

test('names that npm refuses are refused with a valid suggestion; --name sets another', t => {
  const folder = folderOf(t)
  for (const [name, near] of [
    ['My API', 'my-api'],
    ['Café', 'cafe'],
    ['node_modules', 'node-modules'],
    ['.hidden', 'hidden'],
    ['ключ', 'my-api'],
    ['plinth', 'my-api'],
    ['a'.repeat(215), 'a'.repeat(214)],
  ] as const) {
    const { code, complaint } = init(folder.path, name)
    t.is(code, 1, name)
    t.true(complaint.includes(`try \`${near}\``), complaint)
  }
  t.deepEqual(readdirSync(folder.path), [])
  t.is(init(folder.path, 'My API', '--name', 'my-api').code, 0)
  t.is(init(folder.path, 'other', '--template', 'blok').code, 1)
  t.false(existsSync(join(folder.path, 'other')))
})

test('a folder that this user cannot read is refused with its path, without a stack', t => {
  const folder = folderOf(t)
  folder.write('closed/file', '')
  const closed = join(folder.path, 'closed')
  chmodSync(folder.path, 0o755)
  chmodSync(closed, 0)
  t.teardown(() => chmodSync(closed, 0o755))
  // root may read every folder.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const { status, stderr } = spawnSync(process.execPath, [...PLINTH, 'init', closed, '--no-install'], {
    ...user,
    encoding: 'utf8',
  })
  t.is(status, 1)
  t.is(
    stderr,
    `The project was not created: this user has no permission to read or write ${closed}. Name a folder of your own: \`plinth init my-api\`.\n`,
  )
})

test('scripts are plain commands, and Yarn gets the version of Plinth of a package whose newest one needs Node 22', t => {
  const folder = folderOf(t)
  const env = { ...process.env, npm_config_user_agent: 'yarn/1.22.22 npm/? node/v20.19.0 linux x64' }
  const { status } = spawnSync(process.execPath, [...PLINTH, 'init', 'api', '--no-install'], {
    cwd: folder.path,
    env,
  })
  t.is(status, 0)
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
  const { scripts, resolutions } = read(join(folder.path, 'api/package.json'))
  t.is(scripts.start, 'plinth start --no-watch')
  t.is(scripts.dev, 'plinth start')
  const own = read(join(ROOT, 'package.json')).dependencies['@graphql-tools/merge']
  t.deepEqual(resolutions, { '@graphql-tools/merge': own })
})

test('a signal to npm start stops the server with all its requests answered', async t => {
  const folder = folderOf(t)
  t.is(init(folder.path, 'api').code, 0)
  folder.write(
    'api/node_modules/.bin/plinth',
    `#!/bin/sh\nexec '${process.execPath}' ${PLINTH.join(' ')} "$@"\n`,
  )
  const root = join(folder.path, 'api')
  chmodSync(join(root, 'node_modules/.bin/plinth'), 0o755)
  const env = { ...process.env, PORT: '0', HOST: '127.0.0.1', DATABASE_URL: 'embedded', NODE_ENV: '' }
  const npm = spawn('npm', ['start'], { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let shown = ''
  npm.stderr.on('data', part => {
    shown += String(part)
  })
  while (!/GraphQL/.test(shown)) await once(npm.stderr, 'data')
  const [address = ''] = /http:\S+/.exec(shown) ?? []
  npm.kill('SIGTERM')
  // The pipe closes when the server has ended, not only npm.
  await once(npm, 'close')
  t.regex(shown, /Stopping: requests in progress are answered/)
  await t.throwsAsync(fetch(address))
})

test('create-plinth has the version of plinth and depends on it', t => {
  const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'))
  const { version } = read('package.json')
  const creator = read('tools/create-plinth/package.json')
  t.is(creator.version, version)
  t.deepEqual(creator.dependencies, { plinth: `^${version}` })
})

test('create-plinth takes the options behind `--`, which npx and pnpm pass on', t => {
  const folder = folderOf(t)
  folder.write('node_modules/plinth/package.json', '{ "name": "plinth" }')
  folder.write('node_modules/plinth/bin/plinth.js', 'console.log(process.argv.slice(2).join(" "))')
  folder.write('create.mjs', readFileSync(join(ROOT, 'tools/create-plinth/create.js'), 'utf8'))
  const words = ['create.mjs', 'my-api', '--', '--template', 'blog']
  const { stdout } = spawnSync(process.execPath, words, { cwd: folder.path, encoding: 'utf8' })
  t.is(stdout.trim(), 'init my-api --template blog')
})

test('a project that does not fit on the disk leaves nothing, so that `plinth init` can be repeated', t => {
  const folder = folderOf(t)
  mkdirSync(join(folder.path, 'here', '.git'), { recursive: true })
  for (const name of ['new/er', 'here']) {
    // Files of 1 KB at most: a write of more is cut, as on a full disk.
    const words = ['init', join(folder.path, name), '--name', 'api', '--no-install']
    const limited = ['-c', 'ulimit -f 1; exec "$0" "$@"', process.execPath, ...PLINTH, ...words]
    const { status, stderr } = spawnSync('bash', limited, { encoding: 'utf8', timeout: 120_000 })
    t.deepEqual([status, stderr], [1, 'The project was not created: EFBIG: file too large, write\n'])
  }
  t.deepEqual(readdirSync(folder.path, { recursive: true }).toSorted(), ['here', 'here/.git'])
})

const PAGE = readFileSync(join(ROOT, 'docs', 'getting-started.md'), 'utf8')

interface Block {
  readonly language: string
  readonly text: string
}

const blocks: readonly Block[] = [...PAGE.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(
  ([, language = '', text = '']) => ({ language, text }),
)

const isGuideYaml = ({ language, text }: Block) =>
  language === 'yaml' && /^# (yaml-lang|content\/|tests\/)/.test(text)

test('every command of the guide runs in the project that its first command creates', async t => {
  const folder = folderOf(t)
  // `npm create plinth` downloads packages: the same command line runs from the sources instead.
  const shim = join(folder.path, 'bin', 'plinth')
  folder.write('bin/plinth', `#!/bin/sh\nexec '${process.execPath}' ${PLINTH.join(' ')} "$@"\n`)
  folder.write('bin/tsc', '#!/bin/sh\n')
  for (const name of ['plinth', 'tsc']) chmodSync(join(folder.path, 'bin', name), 0o755)
  const port = await freePort()
  const env = {
    ...process.env,
    PORT: String(port),
    DATABASE_URL: 'embedded',
    PATH: `${join(folder.path, 'bin')}:${process.env.PATH}`,
  }
  const run = (command: string, cwd: string) =>
    spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8', timeout: 120_000 })
  const [create = '', enter = ''] = blocks[0]?.text.trim().split('\n') ?? []
  t.is(create, 'npm create plinth bookshop')
  t.is(enter, 'cd bookshop')
  t.is(run('plinth init bookshop --no-install', folder.path).status, 0)
  const root = join(folder.path, 'bookshop')
  mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true })
  symlinkSync(shim, join(root, 'node_modules', '.bin', 'plinth'))
  for (const { text } of blocks.filter(isGuideYaml))
    folder.write(`bookshop/${/^# ((?:content|tests)\/\S+)/.exec(text)?.[1] ?? 'project.yaml'}`, text)
  const commands = blocks
    .slice(1)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.trim().split('\n'))
  const server = commands.indexOf('npm run dev')
  t.true(server > 0)
  for (const command of commands.slice(0, server)) {
    const { status, stderr } = run(command, root)
    t.is(status, 0, `${command}: ${stderr}`)
  }
  const dev = spawn('sh', ['-c', `exec plinth start`], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    for await (const line of dev.stdout) if (/REST is at|\/api/.test(String(line))) break
    const [filtered = '', unknown = ''] = commands
      .slice(server + 1)
      .filter(command => command.startsWith('curl'))
    const answers = blocks.filter(({ language }) => language === 'json').map(({ text }) => JSON.parse(text))
    const [found, refused] = await Promise.all([filtered, unknown].map(command => ask(command, port)))
    t.like(found, answers[0])
    t.deepEqual(refused, answers[1])
  } finally {
    dev.kill('SIGTERM')
    await once(dev, 'exit')
  }
})

/** The response to a `curl` line of the guide, on the port of the test. */
async function ask(command: string, port: number): Promise<object> {
  const address = /'http:\/\/localhost:1337([^']*)'/.exec(command)?.[1] ?? ''
  return (await fetch(`http://127.0.0.1:${port}${address}`)).json() as Promise<object>
}
