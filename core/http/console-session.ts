import { forbidden, isRefusedAs, notFound, unauthorized } from '../faults/fault.ts'
import {
  type HttpRequest,
  type HttpResponse,
  type Responder,
  toFaultResponse,
} from '../faults/http-exchange.ts'
import { type ConsoleSessions, TICKET_LIFETIME } from '../identity/sign-in/console-sessions.ts'
import { servesConsole } from '../openapi/open-openapi.ts'
import type { Settings } from '../project/settings/settings.ts'

const COOKIE = 'plinth_console'

/** The page sends it with each request: forms and pictures of other pages cannot. */
const HEADER = 'x-plinth-console'

/**
 * `<console.path>/session`: keeps the page signed in over a reload (docs/console.md, "Sign-in"). POST with a session token sets the
 * cookie, POST without one answers the token of the cookie, DELETE ends both. The cookie is sent to this address only and
 * authenticates nothing else.
 */
export function openConsoleSession(
  { console, server }: Settings,
  production: boolean,
  sessions: ConsoleSessions,
): Responder {
  const path = `${console.path}/session`
  if (!servesConsole(console, production)) return () => null
  return request => {
    if (request.path !== path || request.method === 'GET' || request.method === 'HEAD') return null
    request.route = 'console.session'
    const origin = ownOrigin(request, server.url)
    if (origin === null)
      return toFaultResponse(forbidden('Only the console of this server may ask for its session'))
    const call = { request, sessions, cookie: cookieWith(path, origin) }
    if (request.method === 'POST') return restoreOrBegin(call)
    if (request.method === 'DELETE') return end(call)
    return toFaultResponse(notFound())
  }
}

interface SessionCall {
  readonly request: HttpRequest
  readonly sessions: ConsoleSessions
  /** null removes the cookie. */
  readonly cookie: (ticket: string | null) => string
}

async function restoreOrBegin({ request, sessions, cookie }: SessionCall): Promise<HttpResponse> {
  const { authorization } = request.headers
  if (authorization !== undefined) {
    const ticket = await sessions.begin(authorization.replace(/^bearer /i, ''))
    if (ticket === null) return toFaultResponse(unauthorized(NO_SESSION, 'Not a session token of a user'))
    return { status: 204, body: null, headers: NOT_STORED, cookies: [cookie(ticket)] }
  }
  const ticket = ticketOf(request)
  const jwt = ticket === null ? null : await sessions.restore(ticket).catch(refusedToNull)
  if (jwt === null) return { ...noSession(), ...(ticket !== null && { cookies: [cookie(null)] }) }
  return { status: 200, body: JSON.stringify({ jwt }), headers: NOT_STORED }
}

/** The user was blocked or deleted, or a new password ended the session. */
function refusedToNull(error: unknown): null {
  if (isRefusedAs(error, 'unauthorized')) return null
  throw error
}

const NO_SESSION = 'Missing or invalid credentials'

/** A visitor without a session is no error: the page asks on each load. */
const noSession = (): HttpResponse => ({
  status: 200,
  body: JSON.stringify({ jwt: null }),
  headers: NOT_STORED,
})

async function end({ request, sessions, cookie }: SessionCall): Promise<HttpResponse> {
  const ticket = ticketOf(request)
  if (ticket !== null) await sessions.end(ticket)
  return { status: 204, body: null, headers: NOT_STORED, cookies: [cookie(null)] }
}

const NOT_STORED = { 'Cache-Control': 'no-store' }

/**
 * The origin of the request if it is the console's own page: a browser sends `Origin` with every POST and DELETE, and no page
 * can change it, `Host` or `Sec-Fetch-Site`. null: another page, or no browser.
 */
function ownOrigin({ headers }: HttpRequest, address: string): URL | null {
  const { origin = '', host } = headers
  const site = headers['sec-fetch-site']
  if (headers[HEADER] !== '1' || (site !== undefined && site !== 'same-origin')) return null
  if (!URL.canParse(origin)) return null
  const found = new URL(origin)
  const own = found.host === host || (URL.canParse(address) && found.origin === new URL(address).origin)
  return own ? found : null
}

const cookieWith =
  (path: string, { protocol }: URL) =>
  (ticket: string | null): string =>
    [
      `${COOKIE}=${ticket ?? ''}`,
      `Path=${path}`,
      `Max-Age=${ticket === null ? 0 : TICKET_LIFETIME}`,
      'HttpOnly',
      'SameSite=Strict',
      ...(protocol === 'https:' ? ['Secure'] : []),
    ].join('; ')

function ticketOf({ headers: { cookie = '' } }: HttpRequest): string | null {
  const found = cookie
    .split(';')
    .map(part => part.trim())
    .find(part => part.startsWith(`${COOKIE}=`))
  return found?.slice(COOKIE.length + 1) || null
}
