import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A store of the tests with the demands of S3's dialects, computed from Amazon's specification: signatures in headers and
 * queries, regions, clocks, digests of bodies, known lengths; virtual hosts and paths.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
 */
export interface StrictS3 {
  readonly port: number
  readonly files: Map<string, StoredFile>
  /** `PUT /pictures/a.txt 200`, in order. */
  readonly seen: string[]
  close(): void
}

interface StoredFile {
  readonly bytes: Buffer
  /** ISO 8601. Absent: now. */
  readonly modified?: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Dialect {
  readonly region: string
  readonly style: 'path' | 'virtual'
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly bucket: string
  /** Milliseconds that the store's clock is ahead. */
  readonly ahead?: number
  /** Buckets with Object Lock. */
  readonly needsMd5?: boolean
  /** Answers instead of the store; undefined: the store answers. */
  readonly disturb?: (request: IncomingMessage, response: ServerResponse) => true | undefined
  /** Entries of one page of a list. */
  readonly page?: number
  /** Absent keys are a 404 of DELETE, as in a few old stores; S3 answers 204. */
  readonly deletesAre404?: boolean
}

export async function startStrictS3(dialect: Dialect): Promise<StrictS3> {
  const files = new Map<string, StoredFile>()
  const seen: string[] = []
  const server = createServer((request, response) => {
    response.sendDate = false
    response.setHeader('Date', new Date(Date.now() + (dialect.ahead ?? 0)).toUTCString())
    response.on('finish', () =>
      seen.push(`${request.method} ${request.url?.split('?')[0]} ${response.statusCode}`),
    )
    if (dialect.disturb?.(request, response)) return
    void answer(request, response, { dialect, files })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { port: (server.address() as AddressInfo).port, files, seen, close }
}

interface Store {
  readonly dialect: Dialect
  readonly files: Map<string, StoredFile>
}

async function answer(request: IncomingMessage, response: ServerResponse, { dialect, files }: Store) {
  const body: Buffer[] = []
  for await (const part of request) body.push(part)
  const bytes = Buffer.concat(body)
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`)
  const refuse = (status: number, code: string, message = code) =>
    response
      .writeHead(status, { 'Content-Type': 'application/xml' })
      .end(
        `<?xml version="1.0" encoding="UTF-8"?>\n<Error xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Code>${code}</Code><Message>${message}</Message><RequestId>1</RequestId></Error>`,
      )
  const fault = faultOf(request, { url, bytes, dialect })
  if (fault) return refuse(...fault)
  const [bucket, key] = placeOf(url, dialect)
  if (bucket !== dialect.bucket) return refuse(404, 'NoSuchBucket', 'The specified bucket does not exist')
  if (request.method === 'GET' && url.searchParams.get('list-type') === '2')
    return response
      .writeHead(200, { 'Content-Type': 'application/xml' })
      .end(listOf(files, url.searchParams.get('continuation-token'), dialect))
  const stored = files.get(key)
  if (request.method === 'PUT') {
    const { 'content-type': type = '', 'content-disposition': disposition = '' } = request.headers
    files.set(key, { bytes, headers: { 'content-type': type, 'content-disposition': disposition } })
    return response.writeHead(200).end()
  }
  if (request.method === 'DELETE') {
    files.delete(key)
    return stored || !dialect.deletesAre404 ? response.writeHead(204).end() : refuse(404, 'NoSuchKey')
  }
  if (!stored) return refuse(404, 'NoSuchKey', 'The specified key does not exist.')
  response.writeHead(200, {
    'Content-Length': stored.bytes.length,
    'Content-Type': stored.headers['content-type'],
  })
  return response.end(request.method === 'HEAD' ? undefined : stored.bytes)
}

/** ListObjectsV2. The token is the last key, with characters that have to be escaped. */
function listOf(files: Store['files'], token: string | null, { page = 1_000 }: Dialect): string {
  const keys = [...files.keys()].toSorted().filter(key => token === null || key > token.slice(0, -2))
  const shown = keys.slice(0, page)
  const next =
    keys.length > page ? `<NextContinuationToken>${shown.at(-1)}&amp;=</NextContinuationToken>` : ''
  const entries = shown.map(key => {
    const { bytes, modified = new Date().toISOString() } = files.get(key) ?? { bytes: Buffer.alloc(0) }
    return `<Contents><Key>${key}</Key><LastModified>${modified}</LastModified><ETag>&quot;x&quot;</ETag><Size>${bytes.length}</Size></Contents>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>pictures</Name>${next}<KeyCount>${shown.length}</KeyCount>${entries.join('')}</ListBucketResult>`
}

function placeOf({ pathname, hostname }: URL, { style }: Dialect): readonly [bucket: string, key: string] {
  if (style === 'virtual') return [hostname.split('.')[0] ?? '', decodeURIComponent(pathname.slice(1))]
  const [, bucket = '', ...key] = pathname.split('/')
  return [bucket, decodeURIComponent(key.join('/'))]
}

type Fault = readonly [status: number, code: string, message?: string]

interface Received {
  readonly url: URL
  readonly bytes: Buffer
  readonly dialect: Dialect
}

function faultOf(request: IncomingMessage, { url, bytes, dialect }: Received): Fault | undefined {
  const { headers, method } = request
  if (headers['transfer-encoding'] !== undefined) return [411, 'MissingContentLength']
  if (headers['content-encoding'] !== undefined) return [501, 'NotImplemented', 'aws-chunked']
  const extra = Object.keys(headers).find(name => /^x-amz-(?:trailer|sdk-|checksum-)/.test(name))
  if (extra) return [501, 'NotImplemented', `A header you provided implies functionality: ${extra}`]
  if (method === 'PUT' && headers['content-length'] !== String(bytes.length))
    return [411, 'MissingContentLength']
  const digests = digestFault(headers, bytes, dialect)
  if (digests) return digests
  return url.searchParams.has('X-Amz-Signature')
    ? presignedFault(request, url, dialect)
    : headerFault(request, url, dialect)
}

function digestFault(
  headers: IncomingMessage['headers'],
  bytes: Buffer,
  dialect: Dialect,
): Fault | undefined {
  const hash = headers['x-amz-content-sha256']
  const isHashed = typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash)
  if (isHashed && hash !== createHash('sha256').update(bytes).digest('hex'))
    return [400, 'XAmzContentSHA256Mismatch']
  const md5 = headers['content-md5']
  if (md5 !== undefined && md5 !== createHash('md5').update(bytes).digest('base64')) return [400, 'BadDigest']
  if (dialect.needsMd5 && bytes.length > 0 && md5 === undefined)
    return [
      400,
      'InvalidRequest',
      'Content-MD5 HTTP header is required for Put Object requests with Object Lock',
    ]
  return undefined
}

function headerFault(request: IncomingMessage, url: URL, dialect: Dialect): Fault | undefined {
  const { headers, method = '' } = request
  const parts = /^AWS4-HMAC-SHA256 Credential=(\S+?), ?SignedHeaders=(\S+), ?Signature=(\S+)$/.exec(
    headers.authorization ?? '',
  )
  if (!parts) return [403, 'AccessDenied', 'Access Denied']
  const [, credential = '', names = '', signature = ''] = parts
  const date = String(headers['x-amz-date'])
  const hash = String(headers['x-amz-content-sha256'])
  const unsigned = Object.keys(headers).find(
    name => name.startsWith('x-amz-') && !names.split(';').includes(name),
  )
  if (unsigned) return [403, 'AccessDenied', `There were headers present which were not signed: ${unsigned}`]
  if (Math.abs(momentOf(date) - Date.now() - (dialect.ahead ?? 0)) > 900_000)
    return [
      403,
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
    ]
  const canonical = [
    method,
    canonicalPath(url),
    canonicalQuery(url),
    canonicalHeaders(headers, names),
    names,
    hash,
  ]
  return signatureFault({ credential, date, signature, canonical: canonical.join('\n'), dialect })
}

function presignedFault(request: IncomingMessage, url: URL, dialect: Dialect): Fault | undefined {
  const query = url.searchParams
  const text = (name: string) => query.get(`X-Amz-${name}`) ?? ''
  const names = text('SignedHeaders')
  const signed = momentOf(text('Date'))
  const now = Date.now() + (dialect.ahead ?? 0)
  const lifetime = Number(text('Expires'))
  if (!(lifetime >= 1 && lifetime <= 604_800)) return [400, 'AuthorizationQueryParametersError']
  if (signed - now > 900_000) return [403, 'AccessDenied', 'Request is not valid yet']
  if (now > signed + lifetime * 1_000) return [403, 'AccessDenied', 'Request has expired']
  const headers = canonicalHeaders(request.headers, names)
  const canonical = [
    request.method,
    canonicalPath(url),
    canonicalQuery(url),
    headers,
    names,
    'UNSIGNED-PAYLOAD',
  ]
  return signatureFault({
    ...{ credential: text('Credential'), date: text('Date'), signature: text('Signature') },
    ...{ canonical: canonical.join('\n'), dialect },
  })
}

interface Signed {
  readonly credential: string
  readonly date: string
  readonly signature: string
  readonly canonical: string
  readonly dialect: Dialect
}

function signatureFault({ credential, date, signature, canonical, dialect }: Signed): Fault | undefined {
  const [id, ...scope] = credential.split('/')
  if (id !== dialect.accessKeyId)
    return [403, 'InvalidAccessKeyId', 'The access key ID you provided does not exist']
  const expected = [date.slice(0, 8), dialect.region, 's3', 'aws4_request']
  if (scope.join('/') !== expected.join('/'))
    return [
      400,
      'AuthorizationHeaderMalformed',
      `the region is wrong; expecting &apos;${dialect.region}&apos;`,
    ]
  const hash = createHash('sha256').update(canonical).digest('hex')
  const key = expected.reduce<Buffer>(hmac, Buffer.from(`AWS4${dialect.secretAccessKey}`))
  const computed = hmac(key, ['AWS4-HMAC-SHA256', date, scope.join('/'), hash].join('\n'))
  const input = Buffer.from(signature, 'hex')
  if (input.length === 32 && timingSafeEqual(input, computed)) return undefined
  return [403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match &lt;yours&gt;']
}

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const momentOf = (date: string): number =>
  Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, each => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)

const canonicalPath = ({ pathname }: URL): string =>
  pathname
    .split('/')
    .map(part => encode(decodeURIComponent(part)))
    .join('/')

const canonicalQuery = ({ searchParams }: URL): string =>
  [...searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join('&')

const canonicalHeaders = (headers: IncomingMessage['headers'], names: string): string =>
  names
    .split(';')
    .map(name => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}\n`)
    .join('')
