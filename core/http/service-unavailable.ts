import { OUTDATED_MESSAGE } from '../database/request-fault.ts'
import { fault } from '../faults/fault.ts'
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

export function openStartGate(): StartGate {
  let step: StartStep = 'starting'
  const health = openHealth({ readiness: async () => 'starting', reason: () => REASONS[step] })
  return {
    responders: [health, createRefusal(MESSAGE)],
    setStep(next) {
      step = next
    },
  }
}

interface OutdatedOptions {
  readonly isOutdated: () => boolean
  /** Called for each request that is refused. */
  readonly onRefused: () => void
}

/** Answers every request except health checks with 503 while the database has another version's schema. */
export function refuseOutdated({ isOutdated, onRefused: refused }: OutdatedOptions): Responder {
  const refuse = createRefusal(OUTDATED_MESSAGE)
  return request => {
    if (!isOutdated() || isHealthPath(request.path)) return null
    refused()
    return refuse(request)
  }
}

/** Answers every request with 503 and one message. Nothing was written. */
function createRefusal(message: string): (request: HttpRequest) => HttpResponse {
  const reading = toFaultResponse(fault('unavailable', message))
  const writing = toFaultResponse(fault('unavailable', message, { outcome: 'not-written' }))
  return ({ method }) => (isSafeMethod(method) ? reading : writing)
}
