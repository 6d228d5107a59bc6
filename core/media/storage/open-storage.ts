import { randomBytes } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { constants, copyFile, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { UploadSettings } from '../../project/settings/settings.ts'
import { openCustomStorage, type StorageDefinition } from './custom-storage.ts'
import {
  assertStorageKey,
  type FileStorage,
  isStorageKey,
  type ServedFiles,
  type StoredEntry,
} from './file-storage.ts'
import { openS3Storage } from './s3-storage.ts'
import { removeAbandoned, stagingFolder } from './staging.ts'

/** The storages that need no extension. */
export const BUILT_IN_STORAGES: readonly string[] = ['local', 's3']

/** Opens the storage that `upload` in project.yaml selects. project/ has checked that required options are present. */
export function openStorage(
  { provider, providerOptions }: UploadSettings,
  root: string,
  storages: ReadonlyMap<string, StorageDefinition> = new Map(),
): FileStorage {
  const option = (name: string): string => String(providerOptions[name] ?? '')
  const isPrivate = option('private') === 'true'
  if (provider === 'local') return openLocalStorage(root, { isPrivate })
  const custom = storages.get(provider)
  if (custom) return openCustomStorage(provider, custom, providerOptions)
  if (provider !== 's3') throw new Error(`there is no storage \`${provider}\``)
  return openS3Storage({
    endpoint: option('endpoint') || null,
    region: option('region') || 'us-east-1',
    bucket: option('bucket'),
    accessKeyId: option('accessKeyId'),
    secretAccessKey: option('secretAccessKey'),
    publicUrl: option('publicUrl') || null,
    isPrivate,
    forcePathStyle: option('forcePathStyle') === '' ? null : option('forcePathStyle') === 'true',
  })
}

/** Folder of a project's files with local storage. */
export const uploadsFolder = (root: string): string => join(root, '.plinth', 'uploads')

/**
 * Stores files in a folder of the project. A file appears under its name only when it is complete and synced. Unless private,
 * the server sends them to everyone.
 */
export function openLocalStorage(root: string, { isPrivate = false } = {}): FileStorage {
  const folder = uploadsFolder(root)
  const pathOf = (key: string): string => {
    assertStorageKey(key)
    return join(folder, key)
  }
  return {
    provider: 'local',
    async store(key, { path }) {
      const target = pathOf(key)
      await mkdir(folder, { recursive: true })
      await copyAtomically(path, join(folder, draftName()), target)
      await fsync(folder)
    },
    has: async key => existsSync(pathOf(key)),
    read: async key => (existsSync(pathOf(key)) ? createReadStream(pathOf(key)) : null),
    remove: key => rm(pathOf(key), { force: true }),
    url: key => `/uploads/${key}`,
    list: () => listFolder(folder),
    ...(isPrivate && { served: privateFiles(pathOf) }),
  }
}

async function* listFolder(folder: string): AsyncGenerator<StoredEntry> {
  if (!existsSync(folder)) return
  for await (const { name: key } of await opendir(folder)) {
    const found = isStorageKey(key) ? await stat(join(folder, key)).catch(() => null) : null
    if (found?.isFile()) yield { key, size: found.size, storedAt: found.mtimeMs }
  }
}

const privateFiles = (pathOf: (key: string) => string): ServedFiles => ({
  isPrivate: true,
  async stat(key) {
    const found = await stat(pathOf(key)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    return found?.isFile() ? { size: found.size } : null
  },
  read: async (key, range) => (existsSync(pathOf(key)) ? createReadStream(pathOf(key), range) : null),
})

/** A hidden name, which is no key: unfinished copies are not served. */
const draftName = () => `.${randomBytes(12).toString('hex')}.part`

const DRAFT = /^\.[0-9a-f]{24}\.part$/

/** Removes what killed processes left: uploads that wait, and unfinished copies into the local storage. */
export async function removeUnfinished(root: string): Promise<void> {
  await removeAbandoned(stagingFolder(root))
  const folder = uploadsFolder(root)
  if (existsSync(folder)) await removeAbandoned(folder, DRAFT)
}

async function copyAtomically(from: string, draft: string, target: string): Promise<void> {
  try {
    await copyFile(from, draft, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    await fsync(draft)
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Without it, a power failure may lose the write. */
async function fsync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}
