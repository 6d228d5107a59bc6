import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { PLINTH } from '../harness/program.ts'

const root = resolve(import.meta.dirname, '..', '..')

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly complaint: string
}

interface Running {
  readonly pid: number
  readonly ended: Promise<Ran>
  /** Resolves once it has written something. */
  readonly written: Promise<unknown>
  kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void
}

/** Runs a command of the command line on the embedded database, in a process of its own. Its output is read once `read` resolves. */
export function begin(args: readonly string[], read: Promise<unknown> = Promise.resolve()): Running {
  const child = spawn(process.execPath, [...PLINTH, ...args], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'development', DATABASE_URL: 'embedded' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const patience = setTimeout(() => child.kill('SIGKILL'), 90_000)
  const written = once(child.stdout, 'readable')
  const out = read.then(() => text(child.stdout))
  const ended = Promise.all([out, text(child.stderr), once(child, 'exit')]).then(([out, complaint]) => {
    clearTimeout(patience)
    return { code: child.exitCode, out, complaint }
  })
  return { pid: child.pid ?? 0, ended, written, kill: signal => void child.kill(signal) }
}

/** The same, to its end. */
export const command = (...args: readonly string[]): Promise<Ran> => begin(args).ended
