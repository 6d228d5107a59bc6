import { readdir, rm } from 'node:fs/promises'
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
