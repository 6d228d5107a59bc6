import { randomBytes } from 'node:crypto'
import { createReadStream, existsSync, openAsBlob } from 'node:fs'
import { constants, copyFile, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { AwsClient } from 'aws4fetch'
import { trimEndCharacter } from '../../base/text.ts'
import type { UploadSettings } from '../../project/settings/settings.ts'
import { isHarmless } from '../file-type.ts'
import { openCustomStorage, type StorageDefinition } from './custom-storage.ts'
import { assertStorageKey, type FileStorage, type ServedFiles } from './file-storage.ts'

/** The storages that need no extension. */
export const BUILT_IN_STORAGES: readonly string[] = ['local', 's3']

/** Opens the storage that `upload` in project.yaml selects. project/ has checked that required options are present. */
export function openStorage(
  { provider, providerOptions }: UploadSettings,
  root: string,
  storages: ReadonlyMap<string, StorageDefinition> = new Map(),
): FileStorage {
  if (provider === 'local') return openLocalStorage(root)
  const custom = storages.get(provider)
  if (custom) return openCustomStorage(provider, custom, providerOptions)
  if (provider !== 's3') throw new Error(`there is no storage \`${provider}\``)
  const option = (name: string): string => String(providerOptions[name] ?? '')
  return openS3Storage({
    endpoint: option('endpoint') || null,
    region: option('region') || 'us-east-1',
    bucket: option('bucket'),
    accessKeyId: option('accessKeyId'),
    secretAccessKey: option('secretAccessKey'),
    publicUrl: option('publicUrl') || null,
    isPrivate: providerOptions.private === true,
  })
}

/** Folder of a project's files with local storage. */
export const uploadsFolder = (root: string): string => join(root, '.plinth', 'uploads')

/** Stores files in a folder of the project. A file appears under its name only when it is complete and synced. */
export function openLocalStorage(root: string): FileStorage {
  const folder = uploadsFolder(root)
  const pathOf = (key: string): string => {
    assertStorageKey(key)
    return join(folder, key)
  }
  return {
    provider: 'local',
    async store(key, { path }) {
      const target = pathOf(key)
      await mkdir(folder, { recursive: true })
      await copyAtomically(path, target)
      await fsync(folder)
    },
    has: async key => existsSync(pathOf(key)),
    read: async key => (existsSync(pathOf(key)) ? createReadStream(pathOf(key)) : null),
    remove: key => rm(pathOf(key), { force: true }),
    url: key => `/uploads/${key}`,
  }
}

async function copyAtomically(from: string, target: string): Promise<void> {
  const draft = `${target}.${randomBytes(4).toString('hex')}.part`
  try {
    await copyFile(from, draft, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    await fsync(draft)
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Without it, a power failure may lose the write. */
async function fsync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}

interface S3Options {
  /** Endpoint of an S3-compatible store, with the bucket as first path segment; null: Amazon S3. */
  readonly endpoint: string | null
  readonly region: string
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Public base URL of the files, such as a CDN; null: the bucket's URL. */
  readonly publicUrl: string | null
  /** Readers get signed addresses; the bucket must refuse public reads. */
  readonly isPrivate: boolean
}

/** Milliseconds for one request to the store. */
const TIMEOUT = 120_000

/** Stores files in an S3 bucket by signed requests. Unless private, the bucket must allow public reads. */
function openS3Storage(options: S3Options): FileStorage {
  const { accessKeyId, secretAccessKey, region } = options
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 2 })
  const base = bucketUrl(options)
  const request = async (method: string, key: string, init: RequestInit = {}): Promise<Response> => {
    assertStorageKey(key)
    const answer = await client.fetch(`${base}/${key}`, {
      ...init,
      method,
      signal: AbortSignal.timeout(TIMEOUT),
    })
    if (answer.ok || answer.status === 404) return answer
    await answer.body?.cancel()
    throw new Error(`The S3 store answered ${answer.status} to ${method} of ${key}`)
  }
  const ask = async (method: string, key: string, init?: RequestInit): Promise<number> => {
    const { status, body } = await request(method, key, init)
    await body?.cancel()
    return status
  }
  return {
    provider: 's3',
    async store(key, { path, mime }) {
      const status = await ask('PUT', key, {
        body: await openAsBlob(path),
        headers: storedHeaders(key, mime),
      })
      if (status === 404) throw new Error(`The S3 store has no bucket ${options.bucket}`)
    },
    has: async key => (await ask('HEAD', key)) !== 404,
    async read(key) {
      const { status, body } = await request('GET', key)
      if (status !== 404 && body) return Readable.fromWeb(body)
      await body?.cancel()
      return null
    },
    async remove(key) {
      await ask('DELETE', key)
    },
    ...(options.isPrivate && { served: privateFiles({ base, client }) }),
    url: key =>
      options.isPrivate
        ? `/uploads/${key}`
        : `${options.publicUrl === null ? base : trimEndCharacter(options.publicUrl, '/')}/${key}`,
  }
}

/** Presigned GET requests: readers load the bytes from the store itself. */
const privateFiles = ({
  base,
  client,
}: {
  readonly base: string
  readonly client: AwsClient
}): ServedFiles => ({
  isPrivate: true,
  stat: () => Promise.resolve(null),
  read: () => Promise.resolve(null),
  async signedUrl(key, expiresIn) {
    assertStorageKey(key)
    const url = new URL(`${base}/${key}`)
    url.searchParams.set('X-Amz-Expires', String(expiresIn))
    return (await client.sign(url.href, { method: 'GET', aws: { signQuery: true } })).url
  },
})

/** The store serves the files itself, so types that could run code in a browser are stored with download headers. */
const storedHeaders = (key: string, mime: string): Record<string, string> => ({
  'Content-Type': mime,
  ...(isHarmless(key) ? {} : { 'Content-Disposition': 'attachment' }),
})

const bucketUrl = ({ endpoint, bucket, region }: S3Options): string =>
  endpoint === null
    ? `https://${bucket}.s3.${region}.amazonaws.com`
    : `${trimEndCharacter(endpoint, '/')}/${bucket}`
