import { closeSync, fdatasyncSync, fsyncSync, openSync } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { PGliteOptions } from '@electric-sql/pglite'

/** Emscripten's record of a file or folder that PostgreSQL has open. */
interface OpenFile {
  /** Node's file descriptor; absent for a folder. */
  readonly nfd?: number
  readonly node: object
}

/** The parts of Emscripten's file system over Node that are replaced: its `fsync` does nothing. */
interface NodeFiles {
  readonly stream_ops: { fsync?: (file: OpenFile) => number }
  realPath(node: object): string
}

interface Emscripten {
  readonly NODEFS: NodeFiles
  readonly FS: { readonly ErrnoError: new (code: number) => Error }
}

/**
 * Options with which PGlite writes a commit to the disk before it acknowledges the commit. By default PGlite turns `fsync`
 * off, so a power failure could lose acknowledged data or damage the files. PostgreSQL writes in the right order if fsync works.
 */
export async function durableOptions(dataDir: string): Promise<Pick<PGliteOptions, 'fs' | 'startParams'>> {
  const [{ PGlite }, { NodeFS }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/nodefs'),
  ])
  class DurableFiles extends NodeFS {
    override async init(...options: Parameters<InstanceType<typeof NodeFS>['init']>) {
      const { emscriptenOpts } = await super.init(...options)
      const preRun = [...(emscriptenOpts.preRun ?? []), (module: object) => addFsync(module)]
      return { emscriptenOpts: { ...emscriptenOpts, preRun } }
    }
  }
  const startParams = PGlite.defaultStartParams.filter(parameter => parameter !== NO_FSYNC)
  // By default PostgreSQL uses fdatasync, which does nothing in Emscripten and cannot be replaced.
  return { fs: new DurableFiles(dataDir), startParams: [...startParams, '-c', 'wal_sync_method=fsync'] }
}

const NO_FSYNC = '-F'

function addFsync(module: object): void {
  const { NODEFS: files, FS } = module as Emscripten
  files.stream_ops.fsync = ({ nfd, node }) => {
    try {
      if (nfd === undefined) syncFolder(files.realPath(node))
      else fdatasyncSync(nfd)
      return 0
    } catch {
      // PostgreSQL stops at once if fsync fails.
      throw new FS.ErrnoError(EIO)
    }
  }
}

/** Emscripten's errno. */
const EIO = 29

/** Windows cannot open folders. */
const FOLDERS_ARE_FILES = process.platform !== 'win32'

function syncFolder(path: string): void {
  if (!FOLDERS_ARE_FILES) return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** Files that are synchronised concurrently. */
const CONCURRENCY = 32

/** Writes all files of a folder to the disk. A new database's first files are created without fsync. */
export async function syncAll(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter(entry => entry.isFile() || (FOLDERS_ARE_FILES && entry.isDirectory()))
    .map(entry => join(entry.parentPath, entry.name))
  const left = [folder, ...paths].values()
  const worker = async () => {
    for (const path of left) await syncOne(path)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}

async function syncOne(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}
