import { open, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { DETECTION_LENGTH, detectMime } from '../media/detect-mime.ts'

/** Media types by the real paths of files; null where the bytes tell none. */
export type MediaTypes = ReadonlyMap<string, string | null>

/** What the bytes of all files of content/media/ tell. */
export async function detectMedia(root: string): Promise<MediaTypes> {
  const folder = await realpath(join(root, 'content', 'media')).catch(() => null)
  const types = new Map<string, string | null>()
  if (folder === null) return types
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    types.set(path, await detectMime(await headOf(path)))
  }
  return types
}

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const head = Buffer.alloc(DETECTION_LENGTH)
    const { bytesRead } = await file.read(head, 0, DETECTION_LENGTH, 0)
    return head.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
