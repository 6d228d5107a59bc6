import type { IncomingHttpHeaders } from 'node:http'
import { FIRST_LSN, furthest, isLsn, type Lsn } from '../database/lsn.ts'
import { inSession, type ReplicaSession } from '../database/statements/session-scope.ts'
import {
  firstAnswer,
  type HttpRequest,
  type HttpResponse,
  type Responder,
  refusalResponse,
} from '../faults/http-exchange.ts'

/** In an answer: the LSN of its last write. In a request: the LSN that its reads must have reached. */
export const POSITION_HEADER = 'X-Plinth-Position'

/** Prefix of the cookie's name; the LSN follows. One cookie per LSN: answers that arrive out of order lose none. */
const COOKIE = 'plinth-position-'

/** Seconds. A replica with a larger lag gets no requests. */
const COOKIE_AGE = 3600

export interface ReadYourWritesOptions {
  /** The paths of GraphQL, whose POST requests may be reads. */
  readonly graphql: readonly string[]
  /** Browsers use HTTPS. */
  readonly secure: boolean
}

/** Read-your-writes with replicas: reads see the sender's earlier writes, whose LSN each answer carries. */
export const readYourWrites =
  (responders: readonly Responder[], options: ReadYourWritesOptions): Responder =>
  request => {
    const received = positionsOf(request.headers)
    const session = toSession(request, received, options)
    const answer = inSession(session, () => firstAnswer(responders, request))
    const add = (input: HttpResponse) => addPosition(input, session, { received: received ?? [], ...options })
    return answer instanceof Promise
      ? answer.then(add, error => add(refusalResponse(error)))
      : answer && add(answer)
  }

function toSession(
  { method, path, headers }: HttpRequest,
  received: readonly Lsn[] | null,
  { graphql }: ReadYourWritesOptions,
): ReplicaSession {
  const mayRead = method === 'GET' || method === 'HEAD' || graphql.includes(path)
  return {
    after: received?.length ? furthest(...received) : null,
    onPrimary: !mayRead || received === null || headers['if-match'] !== undefined,
    written: null,
  }
}

/** null: an entry is not an LSN, so that the sender's writes are unknown. */
function positionsOf(headers: IncomingHttpHeaders): readonly Lsn[] | null {
  const written = [headers[POSITION_HEADER.toLowerCase()]].flat().flatMap(value => value?.split(',') ?? [])
  const kept = (headers.cookie ?? '')
    .split(';')
    .map(cookie => cookie.trim().split('=', 1)[0] ?? '')
    .filter(name => name.startsWith(COOKIE))
    .map(name => name.slice(COOKIE.length))
  const texts = [...written.map(text => text.trim()), ...kept]
  return texts.every(isLsn) ? texts.map(BigInt) : null
}

interface PositionContext extends ReadYourWritesOptions {
  readonly received: readonly Lsn[]
}

function addPosition(
  answer: HttpResponse,
  { written }: ReplicaSession,
  { received, secure }: PositionContext,
): HttpResponse {
  if (written === null) return answer
  const terms = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  const past = received.filter(position => position < written && position !== FIRST_LSN)
  return {
    ...answer,
    headers: { ...answer.headers, [POSITION_HEADER]: String(written) },
    cookies: [
      `${COOKIE}${written}=1; Max-Age=${COOKIE_AGE}; ${terms}`,
      ...past.map(position => `${COOKIE}${position}=; Max-Age=0; ${terms}`),
    ],
  }
}
