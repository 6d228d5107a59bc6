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

// Where a process that holds an embedded database listens for others: a Unix socket in a new folder that only its
// user may enter, or a named pipe on Windows. The folder is made in `.plinth/`, or among the temporary files where that
// path is too long for a socket. `.plinth/database.socket` names it.

/** Bytes: macOS takes 104 with the null byte behind them, Linux 108. */
const LONGEST_PATH = 103

const PREFIX = 'plinth-socket-'
const NAME = 's'

const recordIn = (folder: string): string => join(folder, 'database.socket')

/** New places to listen at, the best first. */
export function* socketPaths(folder: string): Generator<string> {
  if (process.platform === 'win32') {
    yield `\\\\.\\pipe\\plinth-${randomBytes(16).toString('hex')}`
    return
  }
  for (const parent of [folder, tmpdir()])
    if (Buffer.byteLength(join(parent, `${PREFIX}XXXXXX`, NAME)) <= LONGEST_PATH)
      yield join(mkdtempSync(join(parent, PREFIX)), NAME)
}

export function recordSocket(folder: string, path: string): void {
  const draft = `${recordIn(folder)}.${process.pid}`
  writeFileSync(draft, path, { mode: 0o600 })
  renameSync(draft, recordIn(folder))
}

/** null: no process listens, or none did until now. */
export function recordedSocket(folder: string): string | null {
  try {
    return readFileSync(recordIn(folder), 'utf8') || null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Removes a socket with its folder. A path of any other form is left alone: it was read from a file. */
export function removeSocket(path: string): void {
  const folder = dirname(path)
  if (basename(path) !== NAME || !basename(folder).startsWith(PREFIX)) return
  rmSync(path, { force: true })
  try {
    rmdirSync(folder)
  } catch (error) {
    // Temporary files may have been removed since; what is not empty is not ours.
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** Removes what a process left that was killed. To be called by the process that holds the folder's lock. */
export function removeSockets(folder: string): void {
  const recorded = recordedSocket(folder)
  if (recorded !== null) removeSocket(recorded)
  rmSync(recordIn(folder), { force: true })
  // Somebody may have removed the folder under a process that runs.
  const names = existsSync(folder) ? readdirSync(folder) : []
  for (const name of names) if (name.startsWith(PREFIX)) removeSocket(join(folder, name, NAME))
}
