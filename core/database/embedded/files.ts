import { execFileSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processExists } from '../../base/process-exists.ts'
import { OpeningError } from '../connect/opening-fault.ts'
import { removeSockets } from './socket.ts'

/** The files of the embedded database, locked. */
export interface EmbeddedFiles {
  readonly dataDir: string
  readonly lock: FolderLock
  /** There are no files yet. */
  readonly isNew: boolean
  /** To be called when the database has opened: from now on its files are kept. */
  created(): void
}

/**
 * Locks `folder`, a project's `.plinth/`. A database whose creation was interrupted is empty and is created again. Other
 * incomplete files are left unchanged, and an OpeningError is thrown.
 */
export async function lockFiles(folder: string): Promise<EmbeddedFiles> {
  const dataDir = join(folder, 'database')
  const marker = join(folder, 'database.creating')
  const lock = await lockIn(folder)
  if ('holder' in lock) throw locked(folder, lock.holder.pid, lock.holder.host)
  try {
    removeSockets(folder)
    if (existsSync(dataDir) && !statSync(dataDir).isDirectory()) throw damaged(dataDir, 'it is not a folder')
    if (existsSync(marker)) rmSync(dataDir, { recursive: true, force: true })
    const isNew = isEmpty(dataDir)
    if (isNew) writeFileSync(marker, '')
    else if (!existsSync(join(dataDir, 'PG_VERSION'))) throw damaged(dataDir, 'PG_VERSION is missing')
    return { dataDir, lock, isNew, created: () => rmSync(marker, { force: true }) }
  } catch (error) {
    lock.release()
    throw refuseFolder(folder, error)
  }
}

async function lockIn(folder: string): ReturnType<typeof lockFolder> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return await lockFolder(join(folder, 'database.lock'))
  } catch (error) {
    throw refuseFolder(folder, error)
  }
}

/** A full disk, missing permissions, or a file instead of the folder. */
function refuseFolder(folder: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error
  return new OpeningError('folder', `The embedded database cannot use ${folder}: ${error.message}`, error)
}

const isEmpty = (folder: string) => !existsSync(folder) || readdirSync(folder).length === 0

const locked = (folder: string, pid: number, host: string) =>
  new OpeningError(
    'locked',
    `${folder} is in use by process ${pid} on ${host}: the embedded database serves one process. Stop that one, or set database.url to a PostgreSQL server. Commands such as \`plinth migrate\` work while \`plinth start\` runs`,
  )

export const damaged = (dataDir: string, reason: string, cause?: unknown) =>
  new OpeningError(
    'damaged',
    `The embedded database in ${dataDir} cannot be opened (${reason}). Nothing was deleted. Put back a copy of the folder, or move it away to start with an empty database`,
    cause,
  )

/** The operating system refuses access to files that may be whole. */
export const blocked = (dataDir: string, reason: string, cause: unknown) =>
  new OpeningError(
    'folder',
    `The embedded database in ${dataDir} cannot be opened (${reason}). Nothing was deleted. Start again when that is solved`,
    cause,
  )

interface FolderLock {
  /** The dead process that held the lock before. */
  readonly takenFrom: ProcessIdentity | null
  release(): void
}

/** Milliseconds between heartbeats, and after which a process of another machine counts as dead. */
const HEARTBEAT = 5_000
const SILENCE = 30_000

/** Milliseconds. Another process that read the same stale lock has replaced ours by then. */
const TAKEOVER_PAUSE = 150

/** Takes the lock file at `path`, or returns its holder. A dead process's lock is taken over, so kill -9 needs no cleanup. */
async function lockFolder(path: string): Promise<FolderLock | { readonly holder: ProcessIdentity }> {
  const own = JSON.stringify({
    ...thisProcess(),
    token: `${process.pid}-${performance.timeOrigin}-${Math.random()}`,
  })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, own, { mode: 0o600 })
  try {
    return await take(path, draft, own)
  } finally {
    rmSync(draft, { force: true })
  }
}

async function take(path: string, draft: string, own: string): ReturnType<typeof lockFolder> {
  if (tryLink(draft, path)) return held(path, own, null)
  const found = readHolder(path)
  if (found && isHolding(found, path)) return { holder: found }
  renameSync(draft, path)
  await sleep(TAKEOVER_PAUSE)
  if (readFileSync(path, 'utf8') === own) return held(path, own, found)
  return { holder: readHolder(path) ?? thisProcess() }
}

/** Creating a link is atomic and never replaces a file. */
function tryLink(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function isHolding(holder: ProcessIdentity, path: string): boolean {
  if (holder.host === thisProcess().host) return isAlive(holder)
  return Date.now() - statSync(path).mtimeMs < SILENCE
}

/** null: the file is missing or unreadable, so no process holds the lock. */
function readHolder(path: string): ProcessIdentity | null {
  try {
    const { pid, started, host } = JSON.parse(readFileSync(path, 'utf8')) as Partial<ProcessIdentity>
    return typeof pid === 'number' && typeof host === 'string'
      ? { pid, started: started ?? null, host }
      : null
  } catch {
    return null
  }
}

function held(path: string, own: string, takenFrom: ProcessIdentity | null): FolderLock {
  const beat = setInterval(() => touch(path), HEARTBEAT)
  beat.unref()
  const release = () => {
    clearInterval(beat)
    if (isOwn(path, own)) rmSync(path, { force: true })
  }
  return { takenFrom, release }
}

function touch(path: string): void {
  try {
    const now = new Date()
    utimesSync(path, now, now)
  } catch {
    // The folder was removed while the process runs: there is nothing to lock.
  }
}

function isOwn(path: string, own: string): boolean {
  try {
    return readFileSync(path, 'utf8') === own
  } catch {
    return false
  }
}

/** Identifies a process, also against a later one with the same pid. */
interface ProcessIdentity {
  readonly pid: number
  /** The start time as the operating system formats it; null if unavailable. */
  readonly started: string | null
  readonly host: string
}

const thisProcess = (): ProcessIdentity => ({
  pid: process.pid,
  started: startOf(process.pid),
  host: hostname(),
})

/** False only if the process is certainly gone. For processes of this machine. */
function isAlive({ pid, started }: ProcessIdentity): boolean {
  if (!processExists(pid) || isZombie(pid)) return false
  const current = startOf(pid)
  return current === null || started === null || current === started
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
