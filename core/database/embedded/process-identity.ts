import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'

/** Identifies a process, also against a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in words of the system's own; null where the system does not tell. */
  readonly started: string | null
  readonly host: string
}

export const thisProcess = (): ProcessIdentity => ({
  pid: process.pid,
  started: startOf(process.pid),
  host: hostname(),
})

/** True unless the process is known to be gone. Another machine's cannot be known here. */
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

/** Dead, but kept in the table for a parent that never asks: in containers often for as long as they run. */
function isZombie(pid: number): boolean {
  const state = linuxStatOf(pid)?.[0]
  return state === 'Z' || state === 'X'
}

/** Fields of /proc/pid/stat from the third on: behind the process name, which may hold spaces and parentheses. */
function linuxStatOf(pid: number): readonly string[] | undefined {
  const stat = process.platform === 'linux' ? read(`/proc/${pid}/stat`) : null
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Field 22, in ticks since the boot; with the boot. */
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
