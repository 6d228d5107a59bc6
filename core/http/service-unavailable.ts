import { OUTDATED_MESSAGE } from '../database/request-fault.ts'
import { type Fault, fault } from '../faults/fault.ts'
import {
  type HttpRequest,
  type HttpResponse,
  isSafeMethod,
  type Responder,
  toFaultResponse,
} from '../faults/http-exchange.ts'
import { isHealthPath, openHealth } from './health.ts'

/** The steps of a start, until the project is served. */
export type StartStep = 'starting' | 'waiting' | 'migrating' | 'filling' | 'extensions'

/** Public reasons of `/_ready`. Details such as the database's address are only logged. */
const REASONS: Readonly<Record<StartStep, string>> = {
  starting: 'The server is starting',
  waiting: 'The server waits for the database',
  migrating: 'The database is being migrated',
  filling: 'Roles, locales and content are being written',
  extensions: 'The extensions of the project are starting',
}

const MESSAGE = 'The server is starting: try again in a moment'

/** Answers every request while a server starts. */
export interface StartGate {
  readonly responders: readonly Responder[]
  /** Sets the step that `/_ready` reports. */
  setStep(step: StartStep): void
}

/** `graphql`: the paths of GraphQL. */
export function openStartGate(graphql: readonly string[]): StartGate {
  let step: StartStep = 'starting'
  const health = openHealth({ readiness: async () => 'starting', reason: () => REASONS[step] })
  return {
    responders: [health, createRefusal({ message: MESSAGE, graphql })],
    setStep(next) {
      step = next
    },
  }
}

interface OutdatedOptions {
  readonly isOutdated: () => boolean
  /** Called for each request that is refused. */
  readonly onRefused: () => void
  /** The paths of GraphQL. */
  readonly graphql: readonly string[]
}

/** Answers every request except health checks with 503 while the database has another version's schema. */
export function refuseOutdated({ isOutdated, onRefused: refused, graphql }: OutdatedOptions): Responder {
  const refuse = createRefusal({ message: OUTDATED_MESSAGE, graphql })
  return request => {
    if (!isOutdated() || isHealthPath(request.path)) return null
    refused()
    return refuse(request)
  }
}

interface RefusalOptions {
  readonly message: string
  /** The paths of GraphQL, which has its own error format. */
  readonly graphql: readonly string[]
}

/** Answers every request with 503 and one message, in the error format of its path. Nothing was written. */
function createRefusal({ message, graphql }: RefusalOptions): (request: HttpRequest) => HttpResponse {
  const answersTo = (given: Fault) => ({ rest: toFaultResponse(given), graphql: toGraphqlAnswer(given) })
  const reading = answersTo(fault('unavailable', message))
  const writing = answersTo(fault('unavailable', message, { outcome: 'not-written' }))
  return ({ method, path }) => {
    const answers = isSafeMethod(method) ? reading : writing
    const isGraphql = graphql.some(endpoint => path === endpoint || path.startsWith(`${endpoint}/`))
    return isGraphql ? answers.graphql : answers.rest
  }
}

function toGraphqlAnswer({ message, details }: Fault): HttpResponse {
  const error = { name: 'ServiceUnavailableError', message, details }
  const extensions = { error, code: 'INTERNAL_SERVER_ERROR' }
  return { status: 503, body: JSON.stringify({ errors: [{ message, extensions }] }) }
}
