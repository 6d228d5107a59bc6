import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'

/** Identifies a process, also against a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number
  /** The start time as the operating system formats it; null if unavailable. */
  readonly started: string | null
  readonly host: string
}

export const thisProcess = (): ProcessIdentity => ({
  pid: process.pid,
  started: startOf(process.pid),
  host: hostname(),
})

/** False only if the process is certainly gone. For processes of this machine. */
export function isAlive({ pid, started }: ProcessIdentity): boolean {
  if (!exists(pid) || isZombie(pid)) return false
  const current = startOf(pid)
  return current === null || started === null || current === started
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function startOf(pid: number): string | null {
  if (process.platform === 'linux') return linuxStartOf(pid)
  return process.platform === 'win32' ? null : unixStartOf(pid)
}

/** A dead process whose parent never reads its exit status. In containers it often remains in the process table. */
function isZombie(pid: number): boolean {
  const state = linuxStatOf(pid)?.[0]
  return state === 'Z' || state === 'X'
}

/** The fields of /proc/pid/stat from the third on. The second, the process name, may contain spaces and parentheses. */
function linuxStatOf(pid: number): readonly string[] | undefined {
  const stat = process.platform === 'linux' ? read(`/proc/${pid}/stat`) : null
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Field 22 (ticks since boot) with the id of the boot. */
function linuxStartOf(pid: number): string | null {
  const ticks = linuxStatOf(pid)?.[19]
  return ticks === undefined ? null : `${read('/proc/sys/kernel/random/boot_id')?.trim() ?? ''} ${ticks}`
}

function unixStartOf(pid: number): string | null {
  try {
    return (
      execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', timeout: 2_000 }).trim() ||
      null
    )
  } catch {
    return null
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
