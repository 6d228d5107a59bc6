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
  readonly FS: {
    readonly ErrnoError: new (code: number) => Error
    readonly streams: readonly (OpenFile | null | undefined)[]
  }
}

/** How the engine's files are written. */
interface DurableOptions extends Pick<PGliteOptions, 'fs'> {
  readonly startParams: readonly string[]
  /** Closes the files of an engine that is not used any more, without writing to them. */
  abandon(): void
}

/**
 * Options with which PGlite writes a commit to the disk before it acknowledges the commit. By default PGlite turns `fsync`
 * off, so a power failure could lose acknowledged data or damage the files. PostgreSQL writes in the right order if fsync works.
 */
export async function durableOptions(dataDir: string): Promise<DurableOptions> {
  const [{ PGlite }, { NodeFS }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/nodefs'),
  ])
  let files: Emscripten['FS'] | undefined
  class DurableFiles extends NodeFS {
    override async init(...options: Parameters<InstanceType<typeof NodeFS>['init']>) {
      const { emscriptenOpts } = await super.init(...options)
      const own = (module: object) => {
        files = (module as Emscripten).FS
        addFsync(module as Emscripten)
      }
      const preRun = [...(emscriptenOpts.preRun ?? []), own]
      return { emscriptenOpts: { ...emscriptenOpts, preRun } }
    }
  }
  const startParams = PGlite.defaultStartParams.filter(parameter => parameter !== NO_FSYNC)
  // By default PostgreSQL uses fdatasync, which does nothing in Emscripten and cannot be replaced.
  return {
    fs: new DurableFiles(dataDir),
    startParams: [...startParams, '-c', 'wal_sync_method=fsync'],
    abandon() {
      for (const file of files?.streams ?? []) if (file?.nfd !== undefined) closeSync(file.nfd)
    },
  }
}

const NO_FSYNC = '-F'

function addFsync({ NODEFS: files, FS }: Emscripten): void {
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
