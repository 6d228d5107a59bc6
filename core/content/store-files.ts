import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { constants, copyFile, mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { MediaFile } from './media-file.ts'

/**
 * Copies files to `.plinth/uploads`, each under its hash. A file that is there is the same one; a name is taken
 * only by a whole file, so a copy that was broken off leaves nothing that would be served.
 */
export async function storeFiles(root: string, files: readonly MediaFile[]): Promise<void> {
  if (files.length === 0) return
  const folder = join(root, '.plinth', 'uploads')
  await mkdir(folder, { recursive: true })
  for (const file of files) {
    const path = join(folder, `${file.hash}${file.ext}`)
    if (existsSync(path)) continue
    const draft = `${path}.${randomBytes(4).toString('hex')}.part`
    await copyFile(file.path, draft, constants.COPYFILE_EXCL)
    await rename(draft, path)
  }
}
