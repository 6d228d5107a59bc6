import { readdir } from 'node:fs/promises'

/** Files that Strapi's generator writes, or that no front-end uses. */
const USUAL = /^(?:uploads$|robots\.txt$|favicon\.|\.)/

/** Names in the folder that Strapi serves at `/`, without uploads. Empty if there is no such folder. */
export async function publicFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): readonly string[] => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
  return names.filter(name => !USUAL.test(name)).toSorted()
}
