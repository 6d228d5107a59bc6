import { notFound } from '../../faults/fault.ts'
import {
  type HttpRequest,
  type HttpResponse,
  type Responder,
  refusalResponse,
  toFaultResponse,
} from '../../faults/http-exchange.ts'
import type { Quota } from '../../identity/rate-limit.ts'
import type {
  AuthAnswers,
  AuthOperation,
  AuthService,
  SessionAnswer,
} from '../../identity/sign-in/auth-service.ts'
import { answerMethod } from '../answer.ts'
import { withQuota } from '../api-rate-limit.ts'
import {
  type EndpointCall,
  type Endpoints,
  type GeneratedResponder,
  openEndpoints,
  wordsBelow,
} from '../endpoint.ts'
import { readBareBody, requestParams } from '../parse-query-string.ts'
import type { RestTerms } from '../rest-call.ts'

export interface AuthTerms extends RestTerms {
  readonly auth: AuthService
}

/** Authentication over REST (reference/rest.md#14-access): route → rate limit → caller → permission → identity. */
export function openAuthRoutes(terms: AuthTerms): GeneratedResponder {
  const { prefix } = terms.settings
  const table = authEndpoints(terms)
  const respond = openEndpoints(table, { ...terms, prefix })
  return (request, acting) => {
    const path = wordsBelow(request.path, prefix)?.join('/').toLowerCase() ?? ''
    const operation = OPERATIONS.get(path)
    if (operation === undefined) return answerProvider(path, request)
    if (request.method === 'OPTIONS') return respond(request)
    // Mail scanners send HEAD to links: that must not use up the confirmation.
    if (request.method === 'HEAD' && path === CONFIRMATION) return { status: 204, body: null }
    if (isRead(request) && path !== CONFIRMATION) return toFaultResponse(notFound())
    return performLimited(operation, request, { respond: inner => respond(inner, acting), terms })
  }
}

const isRead = ({ method }: HttpRequest): boolean => method === 'GET' || method === 'HEAD'

/** Paths of Strapi's login providers, answered as Strapi does when they are disabled. */
function answerProvider(path: string, request: HttpRequest): HttpResponse | null {
  if (!/^auth\/[^/]+$/.test(path) || path === 'auth/refresh' || path === 'auth/logout') return null
  return isRead(request) ? null : answerMethod(request.method, 'HEAD, GET')
}

interface LimitedAuth {
  readonly respond: Responder
  readonly terms: AuthTerms
}

/** Counts the address and operation for every spelling of the path (reference/safety.md#s9-rate-limits). */
async function performLimited(
  operation: AuthOperation,
  request: HttpRequest,
  { respond, terms }: LimitedAuth,
): Promise<HttpResponse> {
  const quota = await terms.auth.count(operation, request.peer)
  return withQuota(quota, async () => (await respond(request)) ?? toFaultResponse(notFound()))
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

/** Performs the operation of a POST. */
const performAuth =
  <Operation extends Exclude<AuthOperation, 'emailConfirmation'>>(operation: Operation, auth: AuthService) =>
  async ({ request, caller }: EndpointCall): Promise<HttpResponse> => {
    const body = await readBareBody(request)
    return withNarrowerQuota(async onQuota => {
      const answer = await auth.perform(operation, body, { caller, address: request.peer, onQuota })
      return { status: 200, body: print(answer), headers: NO_STORE }
    })
  }

/** Performs the confirmation of a mailed link, then redirects to the project's page. */
const performConfirmation =
  (auth: AuthService) =>
  async ({ request, caller }: EndpointCall): Promise<HttpResponse> => {
    const { confirmation } = requestParams(request)
    const call = { caller, address: request.peer }
    const { location } = await auth.perform('emailConfirmation', { confirmation }, call)
    return { status: 302, body: null, headers: { Location: location, ...NO_STORE } }
  }

/** Adds the headers of a quota that `work` reports to its answer or refusal. */
async function withNarrowerQuota(
  work: (onQuota: (quota: Quota) => void) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  let narrower: Quota | null = null
  const answer = await work(quota => {
    narrower = quota
  }).catch(refusalResponse)
  return withQuota(narrower, async () => answer)
}

/** Credentials must not be cached. */
const NO_STORE = { 'Cache-Control': 'no-store' }

const print = (answer: Exclude<AuthAnswers[AuthOperation], AuthAnswers['emailConfirmation']>): string =>
  'user' in answer ? printSession(answer) : JSON.stringify(answer)

const printSession = ({ jwt, user }: SessionAnswer): string =>
  `{${jwt === null ? '' : `"jwt":${JSON.stringify(jwt)},`}"user":${user}}`
