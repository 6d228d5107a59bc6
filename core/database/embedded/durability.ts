import { closeSync, fdatasyncSync, fsyncSync, openSync } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { PGliteOptions } from '@electric-sql/pglite'

/** A file or a folder that PostgreSQL has open, as Emscripten keeps it. */
interface OpenFile {
  /** Node's number of it; absent: a folder. */
  readonly nfd?: number
  readonly node: object
}

/** Emscripten's file system over Node's, as far as it has to be completed: its `fsync` does nothing. */
interface NodeFiles {
  readonly stream_ops: { fsync?: (file: OpenFile) => number }
  realPath(node: object): string
}

interface Emscripten {
  readonly NODEFS: NodeFiles
  readonly FS: { readonly ErrnoError: new (code: number) => Error }
}

/**
 * How PGlite has to be started for a folder so that a commit is on the disk before it is answered. It switches `fsync` off
 * as a rule, and an operating system that fails, or a loss of power, would then lose what was acknowledged, or damage the
 * files. PostgreSQL itself knows what to write in which order, so it only has to be let.
 */
export async function durableOptions(dataDir: string): Promise<Pick<PGliteOptions, 'fs' | 'startParams'>> {
  const [{ PGlite }, { NodeFS }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/nodefs'),
  ])
  class DurableFiles extends NodeFS {
    override async init(...terms: Parameters<InstanceType<typeof NodeFS>['init']>) {
      const { emscriptenOpts } = await super.init(...terms)
      const preRun = [...(emscriptenOpts.preRun ?? []), (module: object) => complete(module)]
      return { emscriptenOpts: { ...emscriptenOpts, preRun } }
    }
  }
  const startParams = PGlite.defaultStartParams.filter(parameter => parameter !== NO_FSYNC)
  // Emscripten's fdatasync, which PostgreSQL would take, does nothing and cannot be completed.
  return { fs: new DurableFiles(dataDir), startParams: [...startParams, '-c', 'wal_sync_method=fsync'] }
}

const NO_FSYNC = '-F'

function complete(module: object): void {
  const { NODEFS: files, FS } = module as Emscripten
  files.stream_ops.fsync = ({ nfd, node }) => {
    try {
      if (nfd === undefined) syncFolder(files.realPath(node))
      else fdatasyncSync(nfd)
      return 0
    } catch {
      // PostgreSQL stops at once where it cannot know what is on the disk.
      throw new FS.ErrnoError(EIO)
    }
  }
}

/** Emscripten's number of it. */
const EIO = 29

/** Windows keeps no folder for itself, and opens none. */
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

/** Files that are synchronised at the same time: the disk's queue takes them together. */
const AT_ONCE = 32

/** Puts all of a folder on the disk: what a new database begins with was written without. */
export async function syncAll(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter(entry => entry.isFile() || (FOLDERS_ARE_FILES && entry.isDirectory()))
    .map(entry => join(entry.parentPath, entry.name))
  const left = [folder, ...paths].values()
  const worker = async () => {
    for (const path of left) await syncOne(path)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

async function syncOne(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}
