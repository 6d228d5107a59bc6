import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'

export type Test = Pick<ExecutionContext, 'teardown'>

/** PostgreSQL and PgBouncer refuse to run as root. */
const owner = (): { readonly uid?: number; readonly gid?: number } => {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** A folder that such a program may write to; its path is short, as a socket's has to be. */
export function ownFolder(t: Test): string {
  const path = mkdtempSync('/tmp/plinth-own.')
  chownToOwner(path)
  t.teardown(() => rmSync(path, { recursive: true, force: true, maxRetries: 10 }))
  return path
}

export function chownToOwner(path: string): void {
  const { uid, gid } = owner()
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}

/** Runs one to its end, a minute at most. */
export function runOwn(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(program, args, { ...owner(), cwd, encoding: 'utf8', timeout: 180_000 })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${status} ${stderr}`)
}

export interface OwnProcess {
  /** Sends it to the process and to all that it started. */
  signal(signal: NodeJS.Signals): void
  /** Ends it by this signal (SIGKILL: with all that it started), and waits until it is gone. */
  end(signal: NodeJS.Signals): Promise<void>
  hasEnded(): boolean
  log(): string
}

/** Runs one until the test ends. */
export function startOwn(t: Test, program: string, args: readonly string[], cwd: string): OwnProcess {
  const logged = join(cwd, 'log')
  const log = openSync(logged, 'a')
  const child = spawn(program, args, { ...owner(), cwd, stdio: ['ignore', log, log] })
  closeSync(log)
  const signal = (name: NodeJS.Signals) => {
    for (const pid of [child.pid ?? 0, ...childrenOf(child.pid ?? 0)]) sendSignal(pid, name)
  }
  const kill = () => signal('SIGKILL')
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  process.once('exit', kill)
  const end = async (name: NodeJS.Signals) => {
    process.removeListener('exit', kill)
    if (hasEnded()) return
    const gone = once(child, 'exit')
    if (name === 'SIGKILL') kill()
    else child.kill(name)
    await gone
  }
  t.teardown(() => end('SIGKILL'))
  return { signal, end, hasEnded, log: () => readFileSync(logged, 'utf8') }
}

export function childrenOf(pid: number): readonly number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  return stdout.split('\n').map(Number).filter(Boolean)
}

/** One that is gone needs no signal. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
