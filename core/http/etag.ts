import { entityTag } from '../base/text.ts'
import { fault } from '../faults/fault.ts'
import { type HttpRequest, type HttpResponse, toFaultResponse } from '../faults/http-exchange.ts'

type TaggedRequest = Pick<HttpRequest, 'method' | 'headers'>

/**
 * Tags a good answer, and of a read lets the caller's conditions decide (contract/rest.md 0; RFC 9110, 13.2):
 * those of a write are decided before it is done.
 */
export function applyTag(answer: HttpResponse, { method, headers }: TaggedRequest): HttpResponse {
  if (!answer.hasEtag || answer.status >= 300 || answer.body === null) return answer
  const tag = `"${answer.etag ?? entityTag(answer.body)}"`
  const tagged = { ...answer, headers: { ...answer.headers, ETag: tag } }
  if (method !== 'GET' && method !== 'HEAD') return tagged
  const match = headers['if-match']
  if (match !== undefined && !lists(match, tag))
    return toFaultResponse(fault('preconditionFailed', 'The document has changed'))
  const noneMatch = headers['if-none-match']
  if (noneMatch === undefined || !lists(noneMatch.replaceAll('W/', ''), tag)) return tagged
  return { ...tagged, status: 304, body: null }
}

const lists = (condition: string, tag: string): boolean =>
  condition.trim() === '*' || condition.split(',').some(each => each.trim() === tag)
