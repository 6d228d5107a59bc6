import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OpeningError } from '../connect/opening-fault.ts'
import { type FolderLock, lockFolder } from './folder-lock.ts'
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
