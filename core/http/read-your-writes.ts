import type { IncomingHttpHeaders } from 'node:http'
import { furthest, isPosition, type Position, START } from '../database/lsn.ts'
import { inSession, type Session } from '../database/statements/session-scope.ts'
import type { HttpRequest, HttpResponse, Responder } from '../faults/http-exchange.ts'

/** Of an answer: where its writes stand in the database's log. Of a request: that its sender has seen what stands before. */
export const POSITION_HEADER = 'X-Plinth-Position'

/** With the position behind it, so that answers which come in another order than they were sent lose nothing. */
const COOKIE = 'plinth-position-'

/** Seconds. A replica that is further behind than that serves nobody. */
const COOKIE_AGE = 3600

export interface OwnWritesTerms {
  /** The path whose POST may be a mere read. */
  readonly graphql: string
  /** Whether browsers come by HTTPS. */
  readonly secure: boolean
}

/** Where replicas answer reads: has every request read what its sender has written, and tells it how to go on so. */
export const followOwnWrites =
  (responders: readonly Responder[], terms: OwnWritesTerms): Responder =>
  request => {
    const brought = broughtBy(request.headers)
    const session = toSession(request, brought, terms)
    const answer = inSession(session, () => firstAnswer(responders, request))
    const tell = (given: HttpResponse) => tellWritten(given, session, { brought: brought ?? [], ...terms })
    return answer instanceof Promise ? answer.then(tell) : answer && tell(answer)
  }

function firstAnswer(responders: readonly Responder[], request: HttpRequest): ReturnType<Responder> {
  for (const responder of responders) {
    const answer = responder(request)
    if (answer) return answer
  }
  return null
}

function toSession(
  { method, path, headers }: HttpRequest,
  brought: readonly Position[] | null,
  { graphql }: OwnWritesTerms,
): Session {
  const mayRead = method === 'GET' || method === 'HEAD' || path === graphql
  return {
    after: brought?.length ? furthest(...brought) : null,
    onPrimary: !mayRead || brought === null || headers['if-match'] !== undefined,
    written: null,
  }
}

/** null: something that is no position, so that nothing is known. */
function broughtBy(headers: IncomingHttpHeaders): readonly Position[] | null {
  const written = [headers[POSITION_HEADER.toLowerCase()]].flat().flatMap(value => value?.split(',') ?? [])
  const kept = (headers.cookie ?? '')
    .split(';')
    .map(cookie => cookie.trim().split('=', 1)[0] ?? '')
    .filter(name => name.startsWith(COOKIE))
    .map(name => name.slice(COOKIE.length))
  const texts = [...written.map(text => text.trim()), ...kept]
  return texts.every(isPosition) ? texts.map(BigInt) : null
}

interface Telling extends OwnWritesTerms {
  readonly brought: readonly Position[]
}

function tellWritten(answer: HttpResponse, { written }: Session, { brought, secure }: Telling): HttpResponse {
  if (written === null) return answer
  const terms = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  const past = brought.filter(position => position < written && position !== START)
  return {
    ...answer,
    headers: { ...answer.headers, [POSITION_HEADER]: String(written) },
    cookies: [
      `${COOKIE}${written}=1; Max-Age=${COOKIE_AGE}; ${terms}`,
      ...past.map(position => `${COOKIE}${position}=; Max-Age=0; ${terms}`),
    ],
  }
}
