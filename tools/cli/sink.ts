import { open, rename, rm } from 'node:fs/promises'
import { overFiles } from '../transfer/file-fault.ts'

/** Takes text, as fast as whoever reads it. */
export interface Sink {
  write(text: string): Promise<void>
  /** All was written. */
  end(): Promise<void>
  /** Leaves nothing of what was not ended. */
  close(): Promise<void>
}

export function standardOutput(): Sink {
  // The write that fails tells it.
  process.stdout.on('error', () => {})
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      process.stdout.write(text, error => (error ? reject(error) : resolve()))
    })
  return { write: text => overFiles(() => write(text)), end: async () => {}, close: async () => {} }
}

/** A file appears under its name only when it is whole; only its owner may read it, whoever made something of that name before. */
export async function openFile(path: string): Promise<Sink> {
  const draft = `${path}.part`
  const handle = await overFiles(async () => {
    await rm(draft, { force: true })
    return open(draft, 'wx', 0o600)
  })
  return {
    write: text => overFiles(() => handle.writeFile(text)),
    end: () =>
      overFiles(async () => {
        await handle.sync()
        await rename(draft, path)
      }),
    async close() {
      await handle.close()
      await rm(draft, { force: true })
    },
  }
}
