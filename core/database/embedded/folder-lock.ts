import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, type ProcessIdentity, thisProcess } from './process-identity.ts'

export interface FolderLock {
  /** The dead process that the lock was taken from. */
  readonly takenFrom: ProcessIdentity | null
  release(): void
}

/** Milliseconds between signs of life, and after which a process of another machine counts as dead. */
const HEARTBEAT = 5_000
const SILENCE = 30_000

/** Long enough for a process that read the same stale lock to have written its own over ours. */
const TAKEOVER_PAUSE = 150

/**
 * Takes the lock file at `path`, or answers who holds it. A lock whose holder is dead is taken over: after
 * kill -9 no cleanup is needed.
 */
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
  if (place(draft, path)) return held(path, own, null)
  const found = readHolder(path)
  if (found && isHolding(found, path)) return { holder: found }
  renameSync(draft, path)
  await sleep(TAKEOVER_PAUSE)
  if (readFileSync(path, 'utf8') === own) return held(path, own, found)
  return { holder: readHolder(path) ?? thisProcess() }
}

/** A link appears whole or not at all, and never over another. */
function place(draft: string, path: string): boolean {
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

/** Null where the file is gone or not ours to understand: nobody's. */
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
  const beat = setInterval(() => showLife(path), HEARTBEAT)
  beat.unref()
  const release = () => {
    clearInterval(beat)
    if (isOwn(path, own)) rmSync(path, { force: true })
  }
  return { takenFrom, release }
}

function showLife(path: string): void {
  try {
    const now = new Date()
    utimesSync(path, now, now)
  } catch {
    // The folder was removed under a running process: nothing is left to guard.
  }
}

function isOwn(path: string, own: string): boolean {
  try {
    return readFileSync(path, 'utf8') === own
  } catch {
    return false
  }
}
