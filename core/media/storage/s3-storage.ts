import { createHash } from 'node:crypto'
import { createReadStream, openAsBlob } from 'node:fs'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import { messageWithCauses, trimEndCharacter } from '../../base/text.ts'
import { isHarmless } from '../file-type.ts'
import {
  assertStorageKey,
  type FileStorage,
  isStorageKey,
  type LocalFile,
  type ServedFiles,
  StorageOutage,
  type StoredEntry,
} from './file-storage.ts'

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
    list: () => listBucket(requests),
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

/** In pages of a thousand (ListObjectsV2). Keys with other characters, such as those of folders, are of other programs. */
async function* listBucket(requests: S3Requests): AsyncGenerator<StoredEntry> {
  for (let next = ''; ; ) {
    const query = `?list-type=2${next && `&continuation-token=${encodeURIComponent(next)}`}`
    const page = await readPage(await requests.send('GET', '', { query }), requests.bucket)
    for (const entry of page.split('<Contents>').slice(1)) {
      const key = elementOf(entry, 'Key')
      const storedAt = Date.parse(elementOf(entry, 'LastModified'))
      if (isStorageKey(key)) yield { key, size: Number(elementOf(entry, 'Size')), storedAt }
    }
    const following = unescapeXml(elementOf(page, 'NextContinuationToken'))
    if (following === '') return
    if (following === next) throw new Error('The S3 store lists the same page again and again')
    next = following
  }
}

/** Characters of a page: a thousand keys of 1,024 characters, all of them escaped, with what else is said of them. */
const PAGE_LENGTH = 16_000_000

/** Rejects for anything but a list: files that it left out would seem to be missing. */
async function readPage({ status, body }: Response, bucket: string): Promise<string> {
  if (status === 404) throw new Error(`The S3 store has no bucket ${bucket}`)
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of body ?? []) {
    text += decoder.decode(part, { stream: true })
    if (text.length > PAGE_LENGTH) throw new Error('The S3 store answered a page of a list that has no end')
  }
  if (text.includes('</ListBucketResult>')) return text
  throw new Error(`The S3 store answered no complete list of the bucket ${bucket}`)
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

/** Signed requests to one bucket. All are idempotent, so they are repeated. */
interface S3Requests {
  readonly bucket: string
  /** Resolves to a success or to 404 for a missing key. Rejects for everything else, with the reason that the store gives. */
  send(method: S3Method, key: string, init?: S3Init): Promise<Response>
  /** The time by the clock of the store, as signatures have it. */
  datetime(): string
}

type S3Method = 'GET' | 'HEAD' | 'PUT' | 'DELETE'

interface S3Init {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Blob
  /** Asks the bucket itself instead of a file: with the question mark. */
  readonly query?: string
}

interface S3Bucket {
  readonly client: AwsClient
  /** URL of the bucket. */
  readonly base: string
  readonly bucket: string
}

/** Milliseconds for one request to the store, with its repetitions. */
const TIMEOUT = 120_000

const ATTEMPTS = 4

/** Milliseconds of the first delay at most; it doubles. */
const DELAY = 200

/** Milliseconds that `Retry-After` of a store may ask for. */
const MAX_DELAY = 10_000

/** Milliseconds. Stores refuse signatures of another time than theirs from a quarter of an hour on. */
const MAX_SKEW = 300_000

function openS3Requests({ client, base, bucket }: S3Bucket): S3Requests {
  // What the store's clock is ahead, in milliseconds: learned from a refusal.
  let ahead = 0
  const datetime = () => new Date(Date.now() + ahead).toISOString().replace(/[:-]|\.\d{3}/g, '')
  const attempt = async (
    { method, key }: S3Request,
    { query = '', ...init }: S3Init,
    signal: AbortSignal,
  ) => {
    const request = await client.sign(`${base}/${key}${query}`, {
      ...init,
      method,
      aws: { datetime: datetime() },
    })
    return fetch(request, { signal, redirect: 'manual' }).catch(toError)
  }
  /** Milliseconds until the next attempt; null: the answer is final. */
  const delayAfter = (answer: Response | Error): number | null => {
    if (answer instanceof Error) return DELAY
    const skew = Date.parse(answer.headers.get('date') ?? '') - Date.now()
    if (answer.status === 403 && Math.abs(skew - ahead) > MAX_SKEW) {
      ahead = skew
      return 0
    }
    return isTemporary(answer.status) ? (retryAfter(answer) ?? DELAY) : null
  }
  return {
    bucket,
    datetime,
    async send(method, key, init = {}) {
      if (init.query === undefined) assertStorageKey(key)
      const request = { method, key, bucket }
      const signal = AbortSignal.timeout(TIMEOUT)
      for (let count = 1; ; count++) {
        const answer = await attempt(request, init, signal)
        const delay = count < ATTEMPTS && !signal.aborted ? delayAfter(answer) : null
        if (delay === null) return finish(answer, request)
        if (answer instanceof Response) await answer.body?.cancel()
        await wait(delay * 2 ** (count - 1), signal)
      }
    },
  }
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

/** 500 `InternalError`, 503 `SlowDown`, 502 and 504 of proxies, 429 of R2, 408. */
const isTemporary = (status: number): boolean => status >= 500 || status === 429 || status === 408

async function wait(delay: number, signal: AbortSignal): Promise<void> {
  // The random part spreads the repetitions of several processes.
  const time = delay * (0.5 + Math.random() / 2)
  await sleep(Math.min(time, MAX_DELAY), undefined, { signal }).catch(() => undefined)
}

/** Milliseconds; null: none in seconds. */
function retryAfter({ headers }: Response): number | null {
  const seconds = Number(headers.get('retry-after') ?? '')
  return seconds > 0 ? seconds * 1000 : null
}

interface S3Request {
  readonly method: S3Method
  readonly key: string
  readonly bucket: string
}

/** A missing key is an answer; a missing bucket, and everything else, is an error. */
async function finish(answer: Response | Error, { method, key, bucket }: S3Request): Promise<Response> {
  if (answer instanceof Error)
    throw new StorageOutage(`The S3 store did not answer ${method} of ${key}: ${messageWithCauses(answer)}`, {
      cause: answer,
    })
  if (answer.ok) return answer
  const { status, headers } = answer
  const { code, message } = parseError(await readStart(answer))
  if (status === 404 && code !== 'NoSuchBucket') return new Response(null, { status })
  if (code === 'NoSuchBucket') throw new Error(`The S3 store has no bucket ${bucket}`)
  const region = headers.get('x-amz-bucket-region')
  const hint = status >= 300 && status < 400 && region ? `: the bucket is in the region ${region}` : ''
  const reason = hint === '' && message ? `: ${message}` : hint
  const text = `The S3 store answered ${status}${code && ` ${code}`} to ${method} of ${key}${reason}`
  throw isTemporary(status) ? new StorageOutage(text) : new Error(text)
}

/** Characters of an error body that are read. */
const ERROR_LENGTH = 8_192

async function readStart({ body }: Response): Promise<string> {
  if (!body) return ''
  const decoder = new TextDecoder()
  let text = ''
  // A body that breaks off is no other error than the status.
  const read = async () => {
    for await (const part of body) {
      text += decoder.decode(part, { stream: true })
      if (text.length >= ERROR_LENGTH) return
    }
  }
  await read().catch(() => undefined)
  return text.slice(0, ERROR_LENGTH)
}

/** `<Error><Code>AccessDenied</Code><Message>…</Message></Error>`, with or without namespace. Empty where there is none. */
function parseError(text: string): { readonly code: string; readonly message: string } {
  return {
    code: elementOf(text, 'Code').slice(0, 64),
    message: unescapeXml(elementOf(text, 'Message').slice(0, 500)).trim(),
  }
}

/** The text of the first element `name`; empty where there is none. */
function elementOf(text: string, name: string): string {
  const start = text.indexOf(`<${name}>`)
  const end = text.indexOf(`</${name}>`, start)
  return start < 0 || end < 0 ? '' : text.slice(start + name.length + 2, end)
}

const unescapeXml = (text: string): string =>
  text.replace(/&(lt|gt|amp|quot|apos);/g, (_, name) => ENTITIES[name] ?? '')

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }
