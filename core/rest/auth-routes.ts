import { answerFault, type HttpAnswer, type HttpRequest, type Responder } from '../faults/exchange.ts'
import { notFound } from '../faults/fault.ts'
import { networkOf } from '../identity/rate-limit.ts'
import { answerMethod } from './answer.ts'
import {
  changePassword,
  confirmEmail,
  forgotPassword,
  login,
  register,
  resetPassword,
  sendConfirmation,
} from './auth-perform.ts'
import { limited } from './auth-quota.ts'
import type { AuthTerms } from './auth-visit.ts'
import { type Endpoint, type Endpoints, firstBelow, openEndpoints, wordsBelow } from './endpoint.ts'

/** Signing in and all that goes with it over REST (contract/rest.md 14): route → limit → caller → permission → identity. */
export function openAuth(terms: AuthTerms): Responder {
  const { prefix } = terms.settings
  const table = authEndpoints(terms)
  const respond = openEndpoints(table, { ...terms, prefix })
  return request => {
    if (firstBelow(request.path, prefix) !== 'auth') return null
    const path = wordsBelow(request.path, prefix)?.join('/').toLowerCase() ?? ''
    if (!Object.hasOwn(table, path)) return answerProvider(path, request)
    if (request.method === 'OPTIONS') return respond(request)
    // Mail scanners look at links before their readers do: a look must not use one up.
    if (request.method === 'HEAD' && path === CONFIRMATION) return { status: 204, body: null }
    if (!isRead(request) || path === CONFIRMATION) return limit(path, request, { respond, terms })
    return answerFault(notFound())
  }
}

const CONFIRMATION = 'auth/email-confirmation'

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

/** Address and path always count, however the path was written (safety S9). */
async function limit(path: string, request: HttpRequest, { respond, terms }: Limiting): Promise<HttpAnswer> {
  const quota = await terms.count([`address ${networkOf(request.peer)} ${path}`])
  return limited(quota, async () => (await respond(request)) ?? answerFault(notFound()))
}

function authEndpoints(terms: AuthTerms): Endpoints {
  const post = (action: Endpoint['action'], perform: Perform) => ({
    POST: { subject: 'auth', action, perform: visit => perform(visit, terms) } satisfies Endpoint,
  })
  return {
    'auth/local': post('login', login),
    'auth/local/register': post('register', register),
    'auth/change-password': post('changePassword', changePassword),
    'auth/forgot-password': post('forgotPassword', forgotPassword),
    'auth/reset-password': post('resetPassword', resetPassword),
    'auth/send-email-confirmation': post('sendEmailConfirmation', sendConfirmation),
    [CONFIRMATION]: {
      GET: { subject: 'auth', action: 'emailConfirmation', perform: visit => confirmEmail(visit, terms) },
    },
  }
}

type Perform = typeof login
