import type { HttpAnswer } from '../../faults/exchange.ts'
import type {
  AuthAnswers,
  AuthOperation,
  AuthService,
  Performed,
  SessionAnswer,
} from '../../identity/sign-in/auth-service.ts'
import { refuse } from '../answer.ts'
import type { EndpointVisit } from '../endpoint.ts'
import { readBare } from '../parse-body.ts'
import { parseQueryString } from '../parse-query-string.ts'
import { limited } from './auth-quota.ts'

/** What a POST asks for, in its answer's form. */
export const performAuth =
  <Operation extends Exclude<AuthOperation, 'emailConfirmation'>>(operation: Operation, auth: AuthService) =>
  async ({ request, caller }: EndpointVisit): Promise<HttpAnswer> => {
    const body = await readBare(request)
    if (!body.ok) return refuse(body)
    const performed = await auth.perform(operation, body.value, { caller, address: request.peer })
    return answerPerformed(performed, answer => ({ status: 200, body: print(answer), headers: UNKEPT }))
  }

/** Where a mailed link leads: on to the project's page. */
export const performConfirmation =
  (auth: AuthService) =>
  async ({ request, caller }: EndpointVisit): Promise<HttpAnswer> => {
    const parameters = parseQueryString(request.search)
    if (!parameters.ok) return refuse(parameters)
    const { confirmation } = parameters.value
    const performed = await auth.perform(
      'emailConfirmation',
      { confirmation },
      { caller, address: request.peer },
    )
    return answerPerformed(performed, ({ location }) => ({
      status: 302,
      body: null,
      headers: { Location: location, ...UNKEPT },
    }))
  }

const answerPerformed = <Answer>(
  { result, quota }: Performed<Answer>,
  toAnswer: (answer: Answer) => HttpAnswer,
): Promise<HttpAnswer> => limited(quota, async () => (result.ok ? toAnswer(result.value) : refuse(result)))

/** No cache keeps what lets somebody in. */
const UNKEPT = { 'Cache-Control': 'no-store' }

const print = (answer: Exclude<AuthAnswers[AuthOperation], AuthAnswers['emailConfirmation']>): string =>
  'user' in answer ? printSession(answer) : JSON.stringify(answer)

const printSession = ({ jwt, user }: SessionAnswer): string =>
  `{${jwt === null ? '' : `"jwt":${JSON.stringify(jwt)},`}"user":${user}}`
