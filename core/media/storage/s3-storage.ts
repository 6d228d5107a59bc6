import { openAsBlob } from 'node:fs'
import { Readable } from 'node:stream'
import { AwsClient } from 'aws4fetch'
import { trimEndCharacter } from '../../base/text.ts'
import { isHarmless } from '../served-types.ts'
import { assertKey, type FileStorage } from './file-storage.ts'

export interface S3Options {
  /** Of a store that is not Amazon's; its buckets are the first part of the path. */
  readonly endpoint: string | null
  readonly region: string
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Where readers find the files: a CDN, or the bucket's public name. */
  readonly publicUrl: string | null
}

/** Milliseconds that one request to the store may take. */
const TIMEOUT = 120_000

/** Files in a bucket of an S3 store, by signed requests. The bucket has to let its readers read. */
export function openS3Storage(options: S3Options): FileStorage {
  const { accessKeyId, secretAccessKey, region } = options
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 2 })
  const base = baseOf(options)
  const request = async (method: string, key: string, init: RequestInit = {}): Promise<Response> => {
    assertKey(key)
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
      const status = await ask('PUT', key, { body: await openAsBlob(path), headers: headersOf(key, mime) })
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

/** The store serves them itself, so what must not run in a reader's browser has to say so there. */
const headersOf = (key: string, mime: string): Record<string, string> => ({
  'Content-Type': mime,
  ...(isHarmless(key) ? {} : { 'Content-Disposition': 'attachment' }),
})

const baseOf = ({ endpoint, bucket, region }: S3Options): string =>
  endpoint === null
    ? `https://${bucket}.s3.${region}.amazonaws.com`
    : `${trimEndCharacter(endpoint, '/')}/${bucket}`
