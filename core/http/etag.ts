import { entityTag } from '../base/entity-tag.ts'
import { answerFault, type HttpAnswer, type HttpRequest } from '../faults/exchange.ts'
import { fault } from '../faults/fault.ts'

type TaggedRequest = Pick<HttpRequest, 'method' | 'headers'>

/**
 * Tags a good answer, and of a read lets the caller's conditions decide (contract/rest.md 0; RFC 9110, 13.2):
 * those of a write are decided before it is done.
 */
export function applyTag(answer: HttpAnswer, { method, headers }: TaggedRequest): HttpAnswer {
  if (!answer.tagged || answer.status >= 300 || answer.body === null) return answer
  const tag = `"${answer.tag ?? entityTag(answer.body)}"`
  const tagged = { ...answer, headers: { ...answer.headers, ETag: tag } }
  if (method !== 'GET' && method !== 'HEAD') return tagged
  const match = headers['if-match']
  if (match !== undefined && !lists(match, tag))
    return answerFault(fault('preconditionFailed', 'The document has changed'))
  const noneMatch = headers['if-none-match']
  if (noneMatch === undefined || !lists(noneMatch.replaceAll('W/', ''), tag)) return tagged
  return { ...tagged, status: 304, body: null }
}

const lists = (condition: string, tag: string): boolean =>
  condition.trim() === '*' || condition.split(',').some(each => each.trim() === tag)
