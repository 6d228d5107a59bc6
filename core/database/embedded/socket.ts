import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

// The socket of a process that holds an embedded database and lets others use it: a Unix socket in a new folder that only
// its user may enter, or a named pipe on Windows. The folder is created in `.plinth/`, or among the temporary files if that
// path is too long for a socket. `.plinth/database.socket` holds the path.

/** Bytes: macOS allows 104 including the null byte, Linux 108. */
const MAX_PATH = 103

const PREFIX = 'plinth-socket-'
const NAME = 's'

const recordPath = (folder: string): string => join(folder, 'database.socket')

/** Yields new paths to listen at, the preferred one first. */
export function* createSocketPaths(folder: string): Generator<string> {
  if (process.platform === 'win32') {
    yield `\\\\.\\pipe\\plinth-${randomBytes(16).toString('hex')}`
    return
  }
  for (const parent of [folder, tmpdir()])
    if (Buffer.byteLength(join(parent, `${PREFIX}XXXXXX`, NAME)) <= MAX_PATH)
      yield join(mkdtempSync(join(parent, PREFIX)), NAME)
}

export function writeSocketPath(folder: string, path: string): void {
  const draft = `${recordPath(folder)}.${process.pid}`
  writeFileSync(draft, path, { mode: 0o600 })
  renameSync(draft, recordPath(folder))
}

/** null: no process has listened yet, or the last one stopped. */
export function readSocketPath(folder: string): string | null {
  try {
    return readFileSync(recordPath(folder), 'utf8') || null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Removes a socket and its folder. Other paths are ignored: the path may have been read from a file. */
export function removeSocket(path: string): void {
  const folder = dirname(path)
  if (basename(path) !== NAME || !basename(folder).startsWith(PREFIX)) return
  rmSync(path, { force: true })
  try {
    rmdirSync(folder)
  } catch (error) {
    // Temporary files may have been removed since. A folder that is not empty is not ours.
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** Removes the sockets that a killed process left. Only the holder of the folder's lock may call it. */
export function removeSockets(folder: string): void {
  const path = readSocketPath(folder)
  if (path !== null) removeSocket(path)
  rmSync(recordPath(folder), { force: true })
  // The folder may have been removed while the process runs.
  const names = existsSync(folder) ? readdirSync(folder) : []
  for (const name of names) if (name.startsWith(PREFIX)) removeSocket(join(folder, name, NAME))
}
