import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, type ProcessIdentity, thisProcess } from './process-identity.ts'

export interface FolderLock {
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
export async function lockFolder(path: string): Promise<FolderLock | { readonly holder: ProcessIdentity }> {
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
