import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/**
 * Verifies that a request carries the signature of the key's owner, computed from Amazon's specification:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export function isSigned({ method, url, headers }: IncomingMessage, secret: string): boolean {
  const parts = /Credential=[^/]+\/(\S+), ?SignedHeaders=(\S+), ?Signature=(\S+)$/.exec(
    headers.authorization ?? '',
  )
  const [, scope = '', names = '', signature] = parts ?? []
  const signed = names.split(';').map(name => `${name}:${String(headers[name]).trim()}\n`)
  const canonical = [method, url, '', signed.join(''), names, headers['x-amz-content-sha256']].join('\n')
  const hash = createHash('sha256').update(canonical).digest('hex')
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash].join('\n')
  const key = scope.split('/').reduce<Buffer>(hmac, Buffer.from(`AWS4${secret}`))
  return names.includes('host') && hmac(key, text).toString('hex') === signature
}

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
