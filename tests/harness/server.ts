import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { layEmbedded } from './embedded-files.ts'
import { freePort } from './free-port.ts'
import { PLINTH } from './program.ts'
import { openTestApp } from './test-app.ts'
import { freshDatabase } from './test-database.ts'

const root = resolve(import.meta.dirname, '..', '..')

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The parsed body; the text itself where it is not JSON; null where it is empty. */
  readonly body: unknown
}

export interface Server {
  readonly base: string
  readonly pid: number
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
  request(method: string, path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** Ends it by SIGTERM; the exit code. */
  stop(): Promise<number | null>
  /** The output until now. */
  log(): string
}

interface StartOptions {
  readonly project: string
  readonly environment?: Readonly<Record<string, string>>
  /** Milliseconds until it has to answer. */
  readonly within?: number
  /** The path whose answer is waited for: `/_health` answers while the project still starts. */
  readonly awaits?: '/_ready' | '/_health'
}

/** Runs `plinth start` on a project folder in a process of its own, with a fresh database on loopback. */
export async function startServer({
  project,
  environment = {},
  within = 180_000,
  awaits = '/_ready',
}: StartOptions): Promise<Server> {
  const database = environment.DATABASE_URL ? GIVEN : await freshDatabase()
  if ((environment.DATABASE_URL ?? database.url) === 'embedded') await layEmbedded(project)
  const port = await freePort()
  const child = spawn(process.execPath, [...PLINTH, 'start', project], {
    cwd: root,
    env: {
      ...process.env,
      NODE_ENV: 'development',
      HOST: '127.0.0.1',
      PORT: String(port),
      DATABASE_URL: database.url,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', part => (output += String(part)))
  const base = `http://127.0.0.1:${port}`
  await untilAnswered(child, base + awaits, within).catch(async (reason: unknown) => {
    await end(child)
    await database.drop()
    throw new Error(`${String(reason)}\n${output}`)
  })
  return {
    base,
    pid: child.pid ?? 0,
    get: (path, headers = {}) => request(base, 'GET', path, headers),
    request: (method, path, headers = {}) => request(base, method, path, headers),
    async stop() {
      const code = await end(child)
      await database.drop()
      return code
    },
    log: () => output,
  }
}

/** A server in the test's own process. */
export type LocalServer = Omit<Server, 'pid'>

/**
 * Serves a project folder on loopback in this process: cheaper than `startServer`, for tests that need no process of
 * their own. The embedded database is in memory.
 */
export async function serveProject({ project, environment = {} }: StartOptions): Promise<LocalServer> {
  const ends: (() => unknown)[] = []
  const stop = async () => {
    for (const end of ends.splice(0).toReversed()) await end()
    return 0
  }
  const env = { HOST: '127.0.0.1', PORT: '0', ...environment }
  const options = { project, listen: true, sendsMails: true, env }
  const app = await openTestApp({ teardown: end => void ends.push(end) }, options).catch(
    async (reason: unknown) => {
      await stop()
      throw reason
    },
  )
  const base = app.url ?? ''
  return {
    base,
    get: (path, headers = {}) => request(base, 'GET', path, headers),
    request: (method, path, headers = {}) => request(base, method, path, headers),
    stop,
    log: () => app.log().join('\n'),
  }
}

/** The caller's own database, which the caller ends. */
const GIVEN = { url: '', drop: async () => {} }

async function request(
  base: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const answer = await fetch(base + path, {
    method,
    headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(120_000),
  })
  return { status: answer.status, headers: answer.headers, body: parse(await answer.text()) }
}

function parse(text: string): unknown {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function untilAnswered(child: ChildProcess, url: string, within: number): Promise<void> {
  const deadline = Date.now() + within
  while (Date.now() < deadline) {
    if (isOver(child)) throw new Error(`The server ended with code ${child.exitCode ?? child.signalCode}.`)
    if (await isAnswered(url)) return
    await pause(50)
  }
  throw new Error(`The server did not answer within ${within} ms.`)
}

const isAnswered = (url: string): Promise<boolean> =>
  fetch(url).then(
    answer => answer.ok,
    () => false,
  )

/** One that a signal ended has no exit code. */
const isOver = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

async function end(child: ChildProcess): Promise<number | null> {
  if (isOver(child)) return child.exitCode
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  const patience = setTimeout(() => child.kill('SIGKILL'), 60_000)
  await exit
  clearTimeout(patience)
  return child.exitCode
}
