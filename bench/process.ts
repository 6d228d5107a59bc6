import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../tests/harness/free-port.ts'
import { memoryOfTree, type ProcessorTime, timeOfTree } from './processor-time.ts'

export interface Running {
  readonly base: string
  readonly pid: number
  /** Milliseconds from the start of the process to its first answer. */
  readonly startedIn: number
  readonly cpu: ProcessorTime
  /** Resident memory in MB (10^6). */
  memory(): number
  stop(): Promise<void>
}

interface Launch {
  readonly command: readonly string[]
  readonly port: number
  readonly environment: Readonly<Record<string, string>>
  /** A path that answers 200 once it serves requests. */
  readonly probe: string
  /** Where it runs; absent: where the benchmark does. */
  readonly folder?: string
}

export async function launch({ command, port, environment, probe, folder }: Launch): Promise<Running> {
  const began = performance.now()
  const child = spawn(process.execPath, command, {
    env: { ...process.env, ...environment, PORT: String(port) },
    stdio: ['ignore', process.stderr, process.stderr],
    ...(folder !== undefined && { cwd: folder }),
  })
  const base = `http://127.0.0.1:${port}`
  await untilUp(child, base + probe).catch((reason: unknown) => {
    child.kill('SIGKILL')
    throw reason
  })
  const startedIn = performance.now() - began
  const { pid } = child
  assert(pid !== undefined)
  return {
    base,
    pid,
    startedIn,
    cpu: timeOfTree(pid),
    memory: () => memoryOfTree(pid),
    async stop() {
      if (child.exitCode !== null) return
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      const patience = setTimeout(() => child.kill('SIGKILL'), 15_000)
      await exit
      clearTimeout(patience)
    },
  }
}

const root = resolve(import.meta.dirname, '..')

export const startPlinth = async (
  project: string,
  url: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Running> =>
  launch({
    command: [join(root, 'bin', 'plinth.js'), 'start', project],
    port: await freePort(),
    environment: {
      NODE_ENV: 'production',
      DATABASE_URL: url,
      JWT_SECRET: 'a-secret-for-the-benchmark-alone-0000',
      ...environment,
    },
    probe: '/_ready',
  })

async function untilUp(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + 120_000
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`The server ended with code ${child.exitCode}.`)
    if (await isUp(url)) return
    await pause(5)
  }
  throw new Error(`${url} did not answer within two minutes.`)
}

const isUp = (url: string): Promise<boolean> =>
  fetch(url).then(
    answer => answer.ok,
    () => false,
  )
