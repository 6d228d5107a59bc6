import { entityTag } from '../base/text.ts'
import { fault } from '../faults/fault.ts'
import { type HttpRequest, type HttpResponse, toFaultResponse } from '../faults/http-exchange.ts'

/**
 * Cache-Control for an answer that sets none; null: it does. An answer to credentials is private. Any other answer may be
 * stored but must be revalidated each time: the data may change at any moment.
 */
export function cacheControlFor(
  answer: HttpResponse,
  { headers }: Pick<HttpRequest, 'headers'>,
): string | null {
  for (const name in answer.headers) if (name.toLowerCase() === 'cache-control') return null
  return headers.authorization === undefined ? 'no-cache' : 'private'
}

type TaggedRequest = Pick<HttpRequest, 'method' | 'headers'>

/**
 * Adds an ETag to a successful answer. Evaluates If-Match and If-None-Match of reads (reference/rest.md#17-differences-from-strapi; RFC 9110, 13.2);
 * writes evaluate their conditions before they run.
 */
export function applyTag(answer: HttpResponse, { method, headers }: TaggedRequest): HttpResponse {
  if (!answer.hasEtag || answer.status >= 300 || answer.body === null) return answer
  const tag = `"${answer.etag ?? entityTag(answer.body)}"`
  const tagged = { ...answer, headers: { ...answer.headers, ETag: tag } }
  if (method !== 'GET' && method !== 'HEAD') return tagged
  const match = headers['if-match']
  if (match !== undefined && !matchesTag(match, tag))
    return toFaultResponse(fault('preconditionFailed', 'The document has changed'))
  const noneMatch = headers['if-none-match']
  if (noneMatch === undefined || !matchesTag(noneMatch.replaceAll('W/', ''), tag)) return tagged
  return { ...tagged, status: 304, body: null }
}

const matchesTag = (condition: string, tag: string): boolean =>
  condition.trim() === '*' || condition.split(',').some(each => each.trim() === tag)
