import { randomBytes } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { constants, copyFile, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { assertKey, type FileStorage } from './file-storage.ts'

/** Where a project's files lie on its own disk, below its folder. */
export const uploadsFolder = (root: string): string => join(root, '.plinth', 'uploads')

/** Files in a folder of the project. A name is taken only by a whole file that is on the disk. */
export function openLocalStorage(root: string): FileStorage {
  const folder = uploadsFolder(root)
  const pathOf = (key: string): string => {
    assertKey(key)
    return join(folder, key)
  }
  return {
    provider: 'local',
    async store(key, { path }) {
      const target = pathOf(key)
      await mkdir(folder, { recursive: true })
      await copyWhole(path, target)
      await sync(folder)
    },
    has: async key => existsSync(pathOf(key)),
    read: async key => (existsSync(pathOf(key)) ? createReadStream(pathOf(key)) : null),
    remove: key => rm(pathOf(key), { force: true }),
    url: key => `/uploads/${key}`,
  }
}

async function copyWhole(from: string, target: string): Promise<void> {
  const draft = `${target}.${randomBytes(4).toString('hex')}.part`
  try {
    await copyFile(from, draft, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    await sync(draft)
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Until then a loss of power may undo what was written. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}
