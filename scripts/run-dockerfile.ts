// Runs the steps of a project's Dockerfile without a Docker daemon: each stage is a folder, RUN and CMD are processes of this
// machine. Asserts that the server starts as an unprivileged user, passes its health check, answers, and stops on SIGTERM.
//   tsx scripts/run-dockerfile.ts PROJECT [PATH…]     PATH: addresses that have to answer 200
// A dependency on a packed tarball (file:../x.tgz) is placed next to each stage, because a registry is not reached for it.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, matchesGlob, relative, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../tests/harness/free-port.ts'

interface Stage {
  readonly name: string
  readonly root: string
  folder: string
  user: string
  readonly env: Record<string, string>
  command: readonly string[]
  healthCheck: readonly string[]
}

const [context = '.', ...paths] = process.argv.slice(2)
const project = resolve(context)
const work = mkdtempSync(join(tmpdir(), 'plinth-image.'))
chmodSync(work, 0o755)
const isRoot = process.getuid?.() === 0
const idOf = (flag: string, user: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }))
/** The user `node` of the image. */
const unprivileged = isRoot
  ? { uid: idOf('-u', 'nobody'), gid: idOf('-g', 'nobody') }
  : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }

const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
const dependencies: readonly string[] = Object.values(manifest.dependencies ?? {})
const tarballs = dependencies.filter(each => each.startsWith('file:')).map(each => each.slice('file:'.length))
const ignored = readFileSync(join(project, '.dockerignore'), 'utf8').split('\n').filter(Boolean)

/** The instructions, with continued lines joined and comments removed. */
const instructions = readFileSync(join(project, 'Dockerfile'), 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, ' ')
  .split('\n')
  .filter(line => line.trim() !== '')

const words = (text: string): readonly string[] => text.split(/\s+/).filter(Boolean)

function execForm(instruction: string, text: string): readonly string[] {
  if (!text.startsWith('['))
    throw new Error(`${instruction} has to be a list: a shell does not pass signals on`)
  return JSON.parse(text)
}

function openStage(text: string, number: number): Stage {
  const [image = '', , name = String(number)] = words(text)
  if (!image.startsWith('node:')) throw new Error(`FROM ${image}: the steps run on this machine's Node`)
  const root = join(work, name)
  mkdirSync(root)
  const stage = { name, root, folder: root, user: 'root', env: {}, command: [], healthCheck: [] }
  return stage
}

const inStage = (stage: Stage, path: string): string =>
  path.startsWith('/') ? join(stage.root, path) : join(stage.folder, path)

function workIn(stage: Stage, path: string): void {
  stage.folder = inStage(stage, path)
  mkdirSync(stage.folder, { recursive: true })
  for (const tarball of tarballs) cpSync(resolve(project, tarball), resolve(stage.folder, tarball))
}

function isIgnored(path: string): boolean {
  return ignored.some(pattern => matchesGlob(path, pattern.replace(/\/$/, '')))
}

function copy(stage: Stage, text: string, stages: readonly Stage[]): void {
  const all = words(text)
  const from = all.find(word => word.startsWith('--from='))?.slice('--from='.length)
  const [target = '.', ...sources] = all.filter(word => !word.startsWith('--')).reverse()
  const other = stages.find(({ name }) => name === from)
  if (from !== undefined && !other) throw new Error(`COPY: there is no stage ${from}`)
  for (const source of sources) {
    const path = other ? inStage(other, source) : join(project, source)
    const isFolderTarget = target.endsWith('/') || target === '.'
    const isWhole = other || source === '.'
    const to = inStage(stage, isFolderTarget && !isWhole ? join(target, basename(source)) : target)
    const filter = (each: string) => other !== undefined || !isIgnored(relative(project, each))
    cpSync(path, to, { recursive: true, verbatimSymlinks: true, filter })
  }
}

/** The environment of a process in the image; only PATH comes from this machine. */
const envOf = ({ env }: Stage, own: Record<string, string> = {}) => ({
  PATH: process.env.PATH ?? '',
  HOME: work,
  ...env,
  ...own,
})

function run(stage: Stage, text: string): void {
  const script = text.replaceAll('node:node', `${unprivileged.uid}:${unprivileged.gid}`)
  const asUser = stage.user === 'root' ? {} : unprivileged
  const done = spawnSync('sh', ['-c', script], {
    ...asUser,
    cwd: stage.folder,
    env: envOf(stage),
    encoding: 'utf8',
  })
  if (done.status !== 0) throw new Error(`RUN ${text}: ${done.status}\n${done.stdout}${done.stderr}`)
}

const STEPS: Readonly<Record<string, (stage: Stage, text: string, stages: readonly Stage[]) => void>> = {
  WORKDIR: workIn,
  COPY: copy,
  RUN: run,
  ENV: (stage, text) =>
    void Object.assign(stage.env, Object.fromEntries(words(text).map(pair => pair.split('=')))),
  USER(stage, text) {
    stage.user = text
  },
  VOLUME: (stage, text) => void mkdirSync(inStage(stage, text), { recursive: true }),
  EXPOSE: () => undefined,
  HEALTHCHECK(stage, text) {
    stage.healthCheck = execForm('HEALTHCHECK', text.replace(/^.*?CMD\s+/, ''))
  },
  CMD(stage, text) {
    stage.command = execForm('CMD', text)
  },
}

function build(): Stage {
  const stages: Stage[] = []
  for (const line of instructions) {
    const [instruction = '', text = ''] = line.split(/\s(.*)/s)
    process.stdout.write(`${line}\n`)
    const step = STEPS[instruction]
    const stage = stages.at(-1)
    if (instruction === 'FROM') stages.push(openStage(text, stages.length))
    else if (step && stage) step(stage, text.trim(), stages)
    else throw new Error(`${instruction}: this script does not know the instruction`)
  }
  const last = stages.at(-1)
  if (!last) throw new Error('The Dockerfile has no stage')
  return last
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`Not so: ${what}`)
  process.stdout.write(`ok: ${what}\n`)
}

/** Runs the health check until it succeeds or a minute is over. */
async function untilHealthy(
  stage: Stage,
  child: ChildProcess,
  env: Record<string, string>,
): Promise<boolean> {
  const [program = '', ...args] = stage.healthCheck
  for (const end = Date.now() + 60_000; Date.now() < end && child.exitCode === null; await pause(250)) {
    if (spawnSync(program, args, { ...unprivileged, cwd: stage.folder, env }).status === 0) return true
  }
  return false
}

async function serve(stage: Stage): Promise<void> {
  check(stage.user === 'node', 'the image starts as the user node')
  const own = {
    PORT: String(await freePort()),
    HOST: '127.0.0.1',
    DATABASE_URL: process.env.IMAGE_DATABASE_URL ?? 'embedded',
    JWT_SECRET: randomBytes(32).toString('hex'),
  }
  const env = envOf(stage, own)
  const [program = '', ...args] = stage.command
  const child = spawn(program, args, { ...unprivileged, cwd: stage.folder, env, stdio: 'inherit' })
  const exit = once(child, 'exit')
  try {
    check(await untilHealthy(stage, child, env), 'HEALTHCHECK succeeds')
    if (isRoot) {
      const writes = spawnSync('test', ['-w', 'project.yaml'], { ...unprivileged, cwd: stage.folder })
      check(writes.status === 1, 'the server cannot change the files of the project')
    }
    for (const path of paths) {
      const { status } = await fetch(`http://127.0.0.1:${own.PORT}${path}`)
      check(status === 200, `GET ${path} is answered with 200`)
    }
    child.kill('SIGTERM')
    const [code] = await exit
    check(code === 0, 'SIGTERM ends the server with exit code 0')
  } finally {
    child.kill('SIGKILL')
  }
}

try {
  const stage = build()
  check(!existsSync(join(stage.folder, '.env')), 'the image has no .env')
  check(!existsSync(join(stage.folder, 'node_modules/typescript')), 'the image has no dev dependencies')
  await serve(stage)
} finally {
  rmSync(work, { recursive: true, force: true })
}
