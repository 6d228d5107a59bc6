import { type FileHandle, open, rename, rm } from 'node:fs/promises'

/** Takes text, as fast as whoever reads it. */
export interface Sink {
  write(text: string): Promise<void>
  /** All was written. */
  end(): Promise<void>
  /** Leaves nothing of what was not ended. */
  close(): Promise<void>
}

export const standardOutput = (): Sink => ({
  write: text =>
    new Promise((resolve, reject) => {
      process.stdout.write(text, error => (error ? reject(error) : resolve()))
    }),
  end: async () => {},
  close: async () => {},
})

/** A file appears under its name only when it is whole; only its owner may read it. */
export async function openFile(path: string): Promise<Sink> {
  const draft = `${path}.part`
  const handle: FileHandle = await open(draft, 'w', 0o600)
  return {
    async write(text) {
      await handle.writeFile(text)
    },
    async end() {
      await handle.sync()
      await rename(draft, path)
    },
    async close() {
      await handle.close()
      await rm(draft, { force: true })
    },
  }
}
