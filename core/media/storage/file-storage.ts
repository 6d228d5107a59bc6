import type { Readable } from 'node:stream'

/** Where the bytes of files are kept. Whoever reads a key sees a whole file, the old or the new one. */
export interface FileStorage {
  /** As records say it. */
  readonly provider: 'local' | 's3'
  /** Keeps a copy of a file's bytes under a key: its hash and its extension. What was there is replaced. */
  store(key: string, file: LocalFile): Promise<void>
  has(key: string): Promise<boolean>
  /** What is kept under a key; null where there is nothing. */
  read(key: string): Promise<Readable | null>
  /** Also where there is nothing. */
  remove(key: string): Promise<void>
  /** The address that records tell. */
  url(key: string): string
}

export interface LocalFile {
  /** Absolute. */
  readonly path: string
  readonly mime: string
}

/** Whether a storage could keep something under this name: it leads out of none. */
export const isKey = (name: string): boolean => /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,254}$/.test(name)

/** Keys come from hashes, which are made here; one from anywhere else must not lead out of the storage. */
export function assertKey(key: string): void {
  if (!isKey(key)) throw new TypeError(`${key} is no key of a file`)
}
