import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface Folder {
  readonly path: string
  write(name: string, text: string | Uint8Array): void
  remove(): void
}

/** A new folder for a test, with a copy of another's files where one is given. */
export function temporaryFolder(copyOf?: string): Folder {
  const path = mkdtempSync(join(tmpdir(), 'plinth-test-'))
  if (copyOf) cpSync(copyOf, path, { recursive: true })
  return {
    path,
    write(name, text) {
      mkdirSync(dirname(join(path, name)), { recursive: true })
      writeFileSync(join(path, name), text)
    },
    // A browser's processes may still write for a moment after the first one ended.
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  }
}
