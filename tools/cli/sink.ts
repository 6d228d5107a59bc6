import { createReadStream } from 'node:fs'
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

/**
 * The standard output, which gets the text when the sink is closed: until then it is kept in a file, which is removed. For
 * text that is read in a transaction that has to end soon, however slow the reader of the output is.
 */
export async function spooledOutput(path: string): Promise<Sink> {
  const file = await openFile(path)
  let isWhole = false
  return {
    write: file.write,
    async end() {
      await file.end()
      isWhole = true
    },
    async close() {
      await file.close()
      if (!isWhole) return
      const output = standardOutput()
      try {
        for await (const text of createReadStream(path, 'utf8')) await output.write(String(text))
      } finally {
        await rm(path, { force: true })
      }
    },
  }
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
