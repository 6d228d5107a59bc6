import { openAsBlob } from 'node:fs'
import { Readable } from 'node:stream'
import { AwsClient } from 'aws4fetch'
import { trimEndCharacter } from '../../base/text.ts'
import { isHarmless } from '../file-type.ts'
import { assertStorageKey, type FileStorage } from './file-storage.ts'

export interface S3Options {
  /** Endpoint of an S3-compatible store, with the bucket as first path segment; null: Amazon S3. */
  readonly endpoint: string | null
  readonly region: string
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Public base URL of the files, such as a CDN; null: the bucket's URL. */
  readonly publicUrl: string | null
}

/** Milliseconds for one request to the store. */
const TIMEOUT = 120_000

/** Stores files in an S3 bucket by signed requests. The bucket must allow public reads. */
export function openS3Storage(options: S3Options): FileStorage {
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
    url: key => `${options.publicUrl === null ? base : trimEndCharacter(options.publicUrl, '/')}/${key}`,
  }
}

/** The store serves the files itself, so types that could run code in a browser are stored with download headers. */
const storedHeaders = (key: string, mime: string): Record<string, string> => ({
  'Content-Type': mime,
  ...(isHarmless(key) ? {} : { 'Content-Disposition': 'attachment' }),
})

const bucketUrl = ({ endpoint, bucket, region }: S3Options): string =>
  endpoint === null
    ? `https://${bucket}.s3.${region}.amazonaws.com`
    : `${trimEndCharacter(endpoint, '/')}/${bucket}`
