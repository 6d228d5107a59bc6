import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { FileStorage } from '../../core/media/storage/file-storage.ts'
import type { KeyedFile } from './import/import-files.ts'

/** Copies of the bytes of files, named by their keys: what is there already is the same. Answers the keys of which the storage has nothing. */
export async function copyFiles(
  files: readonly KeyedFile[],
  storage: FileStorage,
  folder: string,
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true })
  const lost: string[] = []
  for (const { key } of files) {
    const path = join(folder, key)
    if (existsSync(path)) continue
    const bytes = await storage.read(key)
    if (bytes === null) lost.push(key)
    else await copy(bytes, path)
  }
  return lost
}

/** A file appears under its name only when it is whole. */
async function copy(bytes: NodeJS.ReadableStream, path: string): Promise<void> {
  const draft = `${path}.part`
  try {
    await pipeline(bytes, createWriteStream(draft))
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}
