import type { Result } from '../base/result.ts'
import type { HttpAnswer } from '../faults/exchange.ts'
import type { Fault } from '../faults/fault.ts'
import type { SignedIn } from '../identity/identity.ts'
import type { Body } from '../identity/parse-credentials.ts'
import { refuse } from './answer.ts'
import { limited } from './auth-quota.ts'
import { readOwnUser } from './auth-user.ts'
import type { AuthTerms } from './auth-visit.ts'
import type { EndpointVisit } from './endpoint.ts'
import { readBare } from './parse-body.ts'
import { parseQueryString } from './parse-query-string.ts'

type Performed = Promise<HttpAnswer>

export const login = (visit: EndpointVisit, terms: AuthTerms): Performed =>
  withBody(visit, async body => answerSession(await terms.identity.signIn(body), visit, terms))

export const register = (visit: EndpointVisit, terms: AuthTerms): Performed =>
  withBody(visit, body =>
    byMail('register', body, terms, async () =>
      answerSession(await terms.identity.register(body), visit, terms, true),
    ),
  )

export const changePassword = (visit: EndpointVisit, terms: AuthTerms): Performed =>
  withBody(visit, async body =>
    answerSession(await terms.identity.changePassword(body, visit.caller), visit, terms),
  )

export const forgotPassword = (visit: EndpointVisit, terms: AuthTerms): Performed =>
  withBody(visit, body =>
    byMail('forgot-password', body, terms, async () => {
      const done = await terms.identity.forgotPassword(body)
      return done.ok ? plain({ ok: true }) : refuse(done)
    }),
  )

export const resetPassword = (visit: EndpointVisit, terms: AuthTerms): Performed =>
  withBody(visit, async body => answerSession(await terms.identity.resetPassword(body), visit, terms))

export const sendConfirmation = (visit: EndpointVisit, terms: AuthTerms): Performed =>
  withBody(visit, body =>
    byMail('send-email-confirmation', body, terms, async () => {
      const sent = await terms.identity.sendEmailConfirmation(body)
      return sent.ok ? plain({ email: sent.value, sent: true }) : refuse(sent)
    }),
  )

/** Where a mailed link leads: on to the project's page. */
export async function confirmEmail({ request }: EndpointVisit, terms: AuthTerms): Performed {
  const parameters = parseQueryString(request.search)
  if (!parameters.ok) return refuse(parameters)
  const confirmed = await terms.identity.confirmEmail(parameters.value.confirmation)
  return confirmed.ok
    ? { status: 302, body: null, headers: { Location: confirmed.value, ...UNKEPT } }
    : refuse(confirmed)
}

async function withBody({ request }: EndpointVisit, perform: (body: Body) => Performed): Performed {
  const body = await readBare(request)
  return body.ok ? perform(body.value) : refuse(body)
}

/** A mail address has a limit of its own beside that of who asks, so that nobody's is flooded from everywhere (safety S9). */
async function byMail(
  what: string,
  { email }: Body,
  { count }: AuthTerms,
  perform: () => Performed,
): Performed {
  if (typeof email !== 'string') return perform()
  return limited(await count([`mail ${email.trim().toLowerCase()} ${what}`]), perform)
}

/** No cache keeps what lets somebody in. */
const UNKEPT = { 'Cache-Control': 'no-store' }

const plain = (body: object): HttpAnswer => ({ status: 200, body: JSON.stringify(body), headers: UNKEPT })

async function answerSession(
  result: Result<SignedIn, Fault>,
  { caller }: EndpointVisit,
  terms: AuthTerms,
  withRole = false,
): Performed {
  if (!result.ok) return refuse(result)
  const { jwt, documentId } = result.value
  const user = await readOwnUser(documentId, { caller, withRole }, terms)
  const session = jwt === null ? '' : `"jwt":${JSON.stringify(jwt)},`
  return { status: 200, body: `{${session}"user":${user}}`, headers: UNKEPT }
}
