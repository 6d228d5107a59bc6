import { answerFault, type HttpAnswer, type HttpRequest, type Responder } from '../../faults/exchange.ts'
import { notFound } from '../../faults/fault.ts'
import type { AuthOperation, AuthService } from '../../identity/sign-in/auth-service.ts'
import { answerMethod } from '../answer.ts'
import { type Endpoints, openEndpoints, wordsBelow } from '../endpoint.ts'
import type { RestTerms } from '../request-visit.ts'
import { performAuth, performConfirmation } from './auth-perform.ts'
import { limited } from './auth-quota.ts'

export interface AuthTerms extends RestTerms {
  readonly auth: AuthService
}

/** Signing in and all that goes with it over REST (contract/rest.md 14): route → limit → caller → permission → identity. */
export function openAuth(terms: AuthTerms): Responder {
  const { prefix } = terms.settings
  const table = authEndpoints(terms)
  const respond = openEndpoints(table, { ...terms, prefix })
  return request => {
    const path = wordsBelow(request.path, prefix)?.join('/').toLowerCase() ?? ''
    const operation = OPERATIONS.get(path)
    if (operation === undefined) return answerProvider(path, request)
    if (request.method === 'OPTIONS') return respond(request)
    // Mail scanners look at links before their readers do: a look must not use one up.
    if (request.method === 'HEAD' && path === CONFIRMATION) return { status: 204, body: null }
    if (isRead(request) && path !== CONFIRMATION) return answerFault(notFound())
    return limit(operation, request, { respond, terms })
  }
}

const isRead = ({ method }: HttpRequest): boolean => method === 'GET' || method === 'HEAD'

/** The reference's ways in by other providers, of which there are none: as it answers where they are off. */
function answerProvider(path: string, request: HttpRequest): HttpAnswer | null {
  if (!/^auth\/[^/]+$/.test(path) || path === 'auth/refresh' || path === 'auth/logout') return null
  return isRead(request) ? null : answerMethod(request.method, 'HEAD, GET')
}

interface Limiting {
  readonly respond: Responder
  readonly terms: AuthTerms
}

/** Address and operation always count, however the path was written (safety S9). */
async function limit(
  operation: AuthOperation,
  request: HttpRequest,
  { respond, terms }: Limiting,
): Promise<HttpAnswer> {
  const quota = await terms.auth.count(operation, request.peer)
  return limited(quota, async () => (await respond(request)) ?? answerFault(notFound()))
}

const CONFIRMATION = 'auth/email-confirmation'

const POSTS = {
  'auth/local': 'login',
  'auth/local/register': 'register',
  'auth/change-password': 'changePassword',
  'auth/forgot-password': 'forgotPassword',
  'auth/reset-password': 'resetPassword',
  'auth/send-email-confirmation': 'sendEmailConfirmation',
} as const

const OPERATIONS: ReadonlyMap<string, AuthOperation> = new Map([
  ...Object.entries(POSTS),
  [CONFIRMATION, 'emailConfirmation'],
])

const authEndpoints = ({ auth }: AuthTerms): Endpoints => ({
  ...Object.fromEntries(
    Object.entries(POSTS).map(([path, action]) => [
      path,
      { POST: { subject: 'auth', action, perform: performAuth(action, auth) } },
    ]),
  ),
  [CONFIRMATION]: {
    GET: { subject: 'auth', action: 'emailConfirmation', perform: performConfirmation(auth) },
  },
})
