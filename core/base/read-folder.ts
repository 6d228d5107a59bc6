import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'

/**
 * The entries of a folder; empty if there is none of this name. Throws other errors of the file system: what a process may not read
 * must not count as absent.
 */
export async function readFolder(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}
