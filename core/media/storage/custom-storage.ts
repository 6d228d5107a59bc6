import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { isDiskOutage } from '../../base/disk-errors.ts'
import { didYouMean } from '../../base/nearest.ts'
import { rejectAfter } from '../../base/with-timeout.ts'
import { RequestFault } from '../../faults/fault.ts'
import { assertStorageKey, type FileStorage, type LocalFile, StorageOutage } from './file-storage.ts'

/** A storage of an extension: `media.registerStorage(name, definition)`. */
export interface StorageDefinition {
  /** Opens it with `upload.providerOptions`. Called once, at the start of a server that uses it. */
  open(options: StorageOptions): StorageProvider
  /**
   * Files are at `/uploads/KEY` of the server, for callers who may read their records. Without `signedUrl` the server sends
   * the bytes.
   */
  readonly private?: boolean
}

export type StorageOptions = Readonly<Record<string, string | number | boolean>>

/**
 * Keys are file names of letters, digits, `_`, `-` and `.`. Every method may reject, with ENOSPC, EDQUOT or EROFS as its `code` if
 * there is no room, which is answered 503; a missing file is no error. Each
 * call is limited to two minutes.
 */
export interface StorageProvider {
  /** Stores a file, replacing an existing one. After a failure the old file must still be there. */
  put(key: string, file: FileToPut): unknown
  /** The bytes, or those of the range; null if there is no such file. */
  get(key: string, range?: ByteRange): StoredStream | Promise<StoredStream>
  /** null if there is no such file. */
  stat(key: string): StoredStat | Promise<StoredStat>
  /** Does nothing if there is no such file. */
  delete(key: string): unknown
  /** The public address of a file, written to its record. Without it the server sends files at `/uploads/KEY`. */
  url?(key: string): string
  /** An address that works without credentials for so many seconds. */
  signedUrl?(key: string, options: { readonly expiresIn: number }): string | Promise<string>
}

type StoredStream = Readable | ReadableStream<Uint8Array> | null
type StoredStat = { readonly size: number } | null

export interface FileToPut extends LocalFile {
  /** Bytes. */
  readonly size: number
  stream(): Readable
}

/** Both ends are included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

const REQUIRED = ['put', 'get', 'stat', 'delete'] as const
const OPTIONAL = ['url', 'signedUrl'] as const

/** Milliseconds for one call of a provider. */
const TIMEOUT = 120_000

/** Opens a storage of an extension. Throws if its provider lacks a method. */
export function openCustomStorage(
  name: string,
  definition: StorageDefinition,
  options: StorageOptions,
): FileStorage {
  const provider = definition.open(options)
  assertProvider(name, provider)
  const isPrivate = definition.private === true
  const run = caller(name)
  const read = async (key: string, range?: ByteRange) => {
    let refused = false
    const get = async () => {
      const stream = toStream(await provider.get(key, range))
      // It came after the time limit.
      if (refused) stream?.destroy()
      return stream
    }
    return run('get', key, get).catch((error: unknown) => {
      refused = true
      throw error
    })
  }
  const statOf = async (key: string) => run('stat', key, () => provider.stat(key))
  return {
    provider: name,
    async store(key, { path, mime }) {
      const { size } = await stat(path)
      const file = { path, mime, size, stream: () => createReadStream(path) }
      await run('put', key, () => provider.put(key, file))
    },
    has: async key => (await statOf(key)) !== null,
    read: key => read(key),
    async remove(key) {
      await run('delete', key, () => provider.delete(key))
    },
    url: key => (isPrivate || !provider.url ? `/uploads/${key}` : urlOf(name, provider, key)),
    ...(provider.signedUrl && {
      signedUrl: async (key, expiresIn) =>
        checkUrl(name, await run('signedUrl', key, () => provider.signedUrl?.(key, { expiresIn }))),
    }),
    ...((isPrivate || !provider.url) && { served: { isPrivate, read, stat: statOf } }),
  }
}

/** JavaScript extensions may return anything. */
function assertProvider(name: string, provider: unknown): asserts provider is StorageProvider {
  if (typeof provider !== 'object' || provider === null)
    throw new Error(`open(…) of the storage \`${name}\` must return its provider`)
  const methods = provider as Readonly<Record<string, unknown>>
  const missing = REQUIRED.find(method => typeof methods[method] !== 'function')
  if (missing) {
    const known = Object.keys(provider).filter(key => !REQUIRED.some(each => each === key))
    throw new Error(`the storage \`${name}\` has no method \`${missing}\`${didYouMean(missing, known)}`)
  }
  const wrong = OPTIONAL.find(
    method => methods[method] !== undefined && typeof methods[method] !== 'function',
  )
  if (wrong) throw new Error(`\`${wrong}\` of the storage \`${name}\` must be a method`)
}

/** Calls a method with a time limit. Its errors name the storage and the file. */
const caller =
  (name: string) =>
  async <Value>(method: string, key: string, call: () => Value): Promise<Awaited<Value>> => {
    assertStorageKey(key)
    try {
      return await rejectAfter(TIMEOUT, call)
    } catch (error) {
      throw nameStorage(error, `the storage \`${name}\` failed to ${method} ${key}`)
    }
  }

/** A RequestFault is thrown on purpose. */
function nameStorage(error: unknown, what: string): unknown {
  if (error instanceof RequestFault) return error
  const reason = error instanceof Error ? error.message : String(error)
  const Failure = isDiskOutage(error) ? StorageOutage : Error
  return new Failure(`${what}: ${reason}`, { cause: error })
}

function urlOf(name: string, provider: StorageProvider, key: string): string {
  try {
    return checkUrl(name, provider.url?.(key))
  } catch (error) {
    throw nameStorage(error, `the storage \`${name}\` failed to give the address of ${key}`)
  }
}

function toStream(found: unknown): Readable | null {
  if (found === null || found === undefined) return null
  if (found instanceof Readable) return found
  if (found instanceof globalThis.ReadableStream) return Readable.fromWeb(found as ReadableStream)
  throw new Error('get(…) of a storage must return a Readable, a ReadableStream or null')
}

function checkUrl(name: string, url: unknown): string {
  if (typeof url === 'string' && /^(?:https?:\/\/|\/)[^\s"<>\\]+$/.test(url)) return url
  throw new Error(`the storage \`${name}\` must give an address with https:// or a path that begins with /`)
}
