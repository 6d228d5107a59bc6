import { type Fault, fault } from '../faults/fault.ts'
import {
  type HttpRequest,
  type HttpResponse,
  isSafeMethod,
  toFaultResponse,
} from '../faults/http-exchange.ts'

export interface RefusalTerms {
  readonly message: string
  /** The path of GraphQL, whose clients expect errors in its form. */
  readonly graphql: string
}

/** Answers any request with 503 and one message, in the form that its path has. Nothing was written. */
export function createRefusal({ message, graphql }: RefusalTerms): (request: HttpRequest) => HttpResponse {
  const answersTo = (given: Fault) => ({ rest: toFaultResponse(given), graphql: overGraphql(given) })
  const reading = answersTo(fault('unavailable', message))
  const writing = answersTo(fault('unavailable', message, { outcome: 'not-written' }))
  return ({ method, path }) => {
    const answers = isSafeMethod(method) ? reading : writing
    return path === graphql || path.startsWith(`${graphql}/`) ? answers.graphql : answers.rest
  }
}

function overGraphql({ message, details }: Fault): HttpResponse {
  const error = { name: 'ServiceUnavailableError', message, details }
  const extensions = { error, code: 'INTERNAL_SERVER_ERROR' }
  return { status: 503, body: JSON.stringify({ errors: [{ message, extensions }] }) }
}
