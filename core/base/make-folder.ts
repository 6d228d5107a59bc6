import { existsSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates a folder and those above it; resolves to the first that it created. For folders that a user names: Node's own
 * `recursive` never ends in a file system without new folders, such as /proc.
 */
export async function makeFolder(path: string): Promise<string | undefined> {
  if (isFolder(path)) return undefined
  const above = dirname(path)
  const first = above === path ? undefined : await makeFolder(above)
  await mkdir(path).catch((error: unknown) => {
    if (!isFolder(path)) throw error
  })
  return first ?? path
}

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory()
