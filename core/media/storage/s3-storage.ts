import { createHash } from 'node:crypto'
import { createReadStream, openAsBlob } from 'node:fs'
import { Readable } from 'node:stream'
import { AwsClient } from 'aws4fetch'
import { trimEndCharacter } from '../../base/text.ts'
import { isHarmless } from '../file-type.ts'
import { assertStorageKey, type FileStorage, type LocalFile, type ServedFiles } from './file-storage.ts'
import { openS3Requests, type S3Requests } from './s3-requests.ts'

export interface S3Options {
  /** Of an S3-compatible store; null: Amazon S3. */
  readonly endpoint: string | null
  readonly region: string
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Public base URL of the files, such as a CDN; null: the bucket's URL. */
  readonly publicUrl: string | null
  /** Readers get signed addresses; the bucket must refuse public reads. */
  readonly isPrivate: boolean
  /** The bucket is the first segment of the path (true) or of the host name (false). null: what the store usually expects. */
  readonly forcePathStyle: boolean | null
}

/** Stores files in an S3 bucket by signed requests. Unless private, the bucket must allow public reads. */
export function openS3Storage(options: S3Options): FileStorage {
  const { accessKeyId, secretAccessKey, region, isPrivate, publicUrl } = options
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' })
  const base = bucketUrl(options)
  const requests = openS3Requests({ client, base, bucket: options.bucket })
  return {
    provider: 's3',
    store: (key, file) => put(requests, key, file),
    async has(key) {
      const { status, body } = await requests.send('HEAD', key)
      await body?.cancel()
      return status !== 404
    },
    async read(key) {
      const { status, body } = await requests.send('GET', key)
      if (status !== 404 && body) return Readable.fromWeb(body)
      await body?.cancel()
      return null
    },
    async remove(key) {
      const { body } = await requests.send('DELETE', key)
      await body?.cancel()
    },
    // Presigned GET requests: readers load the bytes from the store itself.
    async signedUrl(key, expiresIn) {
      assertStorageKey(key)
      const url = new URL(`${base}/${key}`)
      url.searchParams.set('X-Amz-Expires', String(expiresIn))
      const aws = { signQuery: true, datetime: requests.datetime() }
      return (await client.sign(url.href, { method: 'GET', aws })).url
    },
    ...(isPrivate && { served: SERVED_BY_THE_STORE }),
    url: key =>
      isPrivate
        ? `/uploads/${key}`
        : `${publicUrl === null ? base : trimEndCharacter(publicUrl, '/')}/${key}`,
  }
}

/** Readers are redirected to signed addresses, so that no bytes pass through the server. */
const SERVED_BY_THE_STORE: ServedFiles = {
  isPrivate: true,
  stat: () => Promise.resolve(null),
  read: () => Promise.resolve(null),
}

/**
 * The digests let the store refuse bytes that changed on the way. Every dialect verifies these two headers, unlike chunked
 * signatures and the trailing checksums of Amazon's SDKs; a bucket with Object Lock demands the MD5.
 */
async function put(requests: S3Requests, key: string, { path, mime }: LocalFile): Promise<void> {
  const sha256 = createHash('sha256')
  const md5 = createHash('md5')
  for await (const part of createReadStream(path)) {
    sha256.update(part)
    md5.update(part)
  }
  const headers = {
    ...storedHeaders(key, mime),
    'X-Amz-Content-Sha256': sha256.digest('hex'),
    'Content-MD5': md5.digest('base64'),
  }
  const { status, body } = await requests.send('PUT', key, { headers, body: await openAsBlob(path) })
  await body?.cancel()
  if (status === 404) throw new Error(`The S3 store has no bucket ${requests.bucket}`)
}

/** The store serves the files itself, so types that could run code in a browser are stored with download headers. */
const storedHeaders = (key: string, mime: string): Record<string, string> => ({
  'Content-Type': mime,
  ...(isHarmless(key) ? {} : { 'Content-Disposition': 'attachment' }),
})

/** Amazon's certificate has no bucket names with dots, and other stores know paths unless they are set up for host names. */
function bucketUrl({ endpoint, bucket, region, forcePathStyle }: S3Options): string {
  const suffix = region.startsWith('cn-') ? '.cn' : ''
  const address = trimEndCharacter(endpoint ?? `https://s3.${region}.amazonaws.com${suffix}`, '/')
  const isPath = forcePathStyle ?? (endpoint !== null || bucket.includes('.'))
  return isPath ? `${address}/${bucket}` : address.replace('://', `://${bucket}.`)
}
