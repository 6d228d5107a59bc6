import { lstatSync, statSync } from 'node:fs'
import { mkdtemp, open, readdir, realpath, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { processExists } from '../../core/base/process-exists.ts'

/**
 * The path at which this process writes a file until it is complete. A killed process leaves its own, perhaps with hashes
 * of passwords: those that ended processes left for the same file are removed. The folder must exist.
 */
export async function partialPath(path: string): Promise<string> {
  const folder = dirname(path)
  for (const name of await readdir(folder)) {
    const pid = pidOf(name, basename(path))
    if (pid === process.pid || (pid !== undefined && !processExists(pid)))
      await rm(join(folder, name), { force: true })
  }
  return `${path}.${process.pid}.part`
}

/** The process that writes the partial file with this name; undefined: it is none of the file. */
function pidOf(name: string, file: string): number | undefined {
  if (!name.startsWith(`${file}.`)) return undefined
  const [, pid] = /^(\d+)\.part$/.exec(name.slice(file.length + 1)) ?? []
  return pid === undefined ? undefined : Number(pid)
}

/** A temporary folder of this process, with a name like `plinth-roles-12-Xy34aB`. Those that ended processes of this user left are removed. */
export async function temporaryFolder(prefix: string): Promise<string> {
  const parent = tmpdir()
  for (const name of await readdir(parent)) {
    const [, pid] =
      (name.startsWith(`${prefix}-`) && /^(\d+)-\w{6}$/.exec(name.slice(prefix.length + 1))) || []
    if (pid === undefined || processExists(Number(pid))) continue
    const path = join(parent, name)
    if (lstatSync(path, { throwIfNoEntry: false })?.uid === (process.getuid?.() ?? 0))
      await rm(path, { recursive: true, force: true })
  }
  return mkdtemp(join(parent, `${prefix}-${process.pid}-`))
}

/** A file that is written under another name until it is complete. */
export interface OutputFile {
  write(text: string): Promise<void>
  /** Renames it to its name. */
  complete(): Promise<void>
  /** Ends the output: an incomplete file is removed, and one that it would replace stays as it is. */
  close(): Promise<void>
}

/** For `catch`: errors of an open file do not name it. */
export const namingFile =
  (path: string) =>
  (error: Error): never => {
    error.message += ` '${path}'`
    throw error
  }

/** Opens a file, with the permissions of the one that it replaces unless `mode` gives others. A pipe or a device is written itself. */
export async function openOutputFile(path: string, mode?: number): Promise<OutputFile> {
  const found = statSync(path, { throwIfNoEntry: false })
  const replaces = found === undefined || found.isFile()
  // The file that a symbolic link leads to is replaced, not the link.
  const target = found?.isFile() ? await realpath(path) : path
  const partial = replaces ? await partialPath(target) : target
  const handle = await open(partial, replaces ? 'wx' : 'w', mode ?? found?.mode)
  return {
    write: text => handle.writeFile(text).catch(namingFile(path)),
    async complete() {
      if (!replaces) return
      await handle.sync().catch(namingFile(path))
      await rename(partial, target)
    },
    async close() {
      await handle.close()
      if (replaces) await rm(partial, { force: true })
    },
  }
}

/** Writes a text file that is complete or not there. */
export async function writeOutputFile(path: string, text: string, mode?: number): Promise<void> {
  const file = await openOutputFile(path, mode)
  try {
    await file.write(text)
    await file.complete()
  } finally {
    await file.close()
  }
}
