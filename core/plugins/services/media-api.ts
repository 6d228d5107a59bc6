import { hintFor } from '../../base/nearest.ts'
import { type FileStorage, isStorageKey } from '../../media/storage/file-storage.ts'
import type { SignedPaths } from '../../media/storage/signed-paths.ts'

/** `app.media`: the uploaded files. */
export interface PluginMedia {
  /**
   * An absolute address of a file that works without credentials until it expires: for private files, and for buckets that
   * refuse public readers. A file that everyone may read anyway has its public address. It is not checked that the file exists,
   * nor who asks: code decides who gets the address.
   */
  signedUrl(file: AnyFile, options?: SignOptions): Promise<string>
}

/** A record of a file, one of its `formats`, or the `url` of either. */
export type AnyFile = string | { readonly url?: unknown }

export interface SignOptions {
  /** Seconds, from 1 to 604,800 (7 days). Default: 300. */
  readonly expiresIn?: number
}

interface MediaOptions {
  readonly storage: FileStorage
  readonly paths: Pick<SignedPaths, 'sign'>
  /** `server.url` of project.yaml. */
  readonly address: string
}

/** Seconds. Stores accept no longer signatures. */
const MAX_LIFETIME = 604_800

const LIFETIME = 300

/** Arguments are checked, since JavaScript plugins are not type-checked. */
export function openMediaApi({ storage, paths, address }: MediaOptions): PluginMedia {
  const absolute = (path: string) => (path.startsWith('/') ? address + path : path)
  return Object.freeze({
    async signedUrl(file: AnyFile, options: SignOptions = {}) {
      const key = keyOf(file)
      const expiresIn = lifetimeOf(options)
      if (storage.signedUrl) return absolute(await storage.signedUrl(key, expiresIn))
      return absolute(storage.served?.isPrivate ? paths.sign(key, expiresIn) : storage.url(key))
    },
  })
}

/** The last part of its address: `/uploads/photo_0123456789.png`, `https://cdn.example.org/photo_0123456789.png`. */
function keyOf(file: unknown): string {
  const url = typeof file === 'object' && file !== null ? (file as { url?: unknown }).url : file
  const path = typeof url === 'string' ? (/^[^?#]*/.exec(url)?.[0] ?? '') : ''
  const key = path.slice(path.lastIndexOf('/') + 1)
  if (isStorageKey(key)) return key
  throw new Error(`app.media.signedUrl(…) takes a file with its \`url\`, or the url, found ${describe(url)}`)
}

function describe(url: unknown): string {
  if (url === undefined || url === null) return 'none'
  return typeof url === 'string' ? `\`${url.slice(0, 100)}\`` : `a ${typeof url}`
}

function lifetimeOf(options: unknown): number {
  if (typeof options !== 'object' || options === null)
    throw new Error('the second argument of app.media.signedUrl(…) is an object with `expiresIn`')
  const unknown = Object.keys(options).find(key => key !== 'expiresIn')
  if (unknown !== undefined)
    throw new Error(`app.media.signedUrl(…) has no option \`${unknown}\`${hintFor(unknown, ['expiresIn'])}`)
  const { expiresIn = LIFETIME } = options as { expiresIn?: unknown }
  if (
    typeof expiresIn === 'number' &&
    Number.isInteger(expiresIn) &&
    expiresIn >= 1 &&
    expiresIn <= MAX_LIFETIME
  )
    return expiresIn
  throw new Error(
    `expiresIn of app.media.signedUrl(…) is a number of seconds from 1 to ${MAX_LIFETIME}, found ${String(expiresIn)}`,
  )
}
