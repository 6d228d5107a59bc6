import type { Readable } from 'node:stream'

/** Storage of file bytes. Writes are atomic: a read returns the old or the new file, never a part. */
export interface FileStorage {
  /** The value of `provider` in records. */
  readonly provider: string
  /** Stores a copy of a file under a key (hash and extension), replacing an existing one. */
  store(key: string, file: LocalFile): Promise<void>
  has(key: string): Promise<boolean>
  /** null if the key does not exist. */
  read(key: string): Promise<Readable | null>
  /** Does nothing if the key does not exist. */
  remove(key: string): Promise<void>
  /** The URL written to records. */
  url(key: string): string
  /** An address that works without credentials for so many seconds. Absent: the storage cannot sign. */
  signedUrl?(key: string, expiresIn: number): Promise<string>
  /** All files whose names are keys. Absent: the storage cannot list them. */
  list?(): AsyncIterable<StoredEntry>
  /** Set if the server answers `/uploads/KEY` for this storage; absent: readers go to another address, or to a local folder. */
  readonly served?: ServedFiles
}

/** A file of a storage. */
export interface StoredEntry {
  readonly key: string
  /** Bytes. */
  readonly size: number
  /** When it was stored. Milliseconds since 1970. */
  readonly storedAt: number
}

/** Files behind `/uploads/`. The server sends the bytes, unless `signedUrl` of the storage gives an address to redirect to. */
export interface ServedFiles {
  /** Only for callers who may read the record of the file. */
  readonly isPrivate: boolean
  /** null if the key does not exist. */
  stat(key: string): Promise<{ readonly size: number } | null>
  /** `range`: both ends are included. */
  read(key: string, range?: { readonly start: number; readonly end: number }): Promise<Readable | null>
}

export interface LocalFile {
  /** Absolute. */
  readonly path: string
  readonly mime: string
}

/** The storage is not reachable, or busy for longer than its requests are repeated: a later attempt may succeed. */
export class StorageOutage extends Error {}

/** True for names that are safe as a storage key: they cannot leave the folder. */
export const isStorageKey = (name: string): boolean => /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,254}$/.test(name)

/** Throws a TypeError for an unsafe key. Keys are made from hashes here; this guards against others. */
export function assertStorageKey(key: string): void {
  if (!isStorageKey(key)) throw new TypeError(`${key} is no key of a file`)
}
