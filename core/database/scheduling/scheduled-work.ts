import type { RequestOrigin } from '../../base/request-context.ts'
import type { StatementContext } from '../database.ts'

/** Reads and writes have separate limits, so that neither can occupy every connection. */
export type Lane = 'read' | 'write'

/** One statement or one transaction that needs a connection. */
export interface Work {
  readonly lane: Lane
  /** The caller that it counts for; null: the server itself. */
  readonly caller: string | null
  /** Equal for all work of one request; null: the work belongs to no request. */
  readonly request: RequestOrigin | null
  readonly signal: AbortSignal | null
}

export interface WorkOptions {
  readonly purpose?: StatementContext | undefined
  readonly signal?: AbortSignal | undefined
}

/** The caller of plugin code that uses documents outside of a request. */
const PLUGIN_CODE = 'plugin code'

export function createWork(lane: Lane, { purpose, signal = undefined }: WorkOptions = {}): Work {
  const request = purpose?.requestContext?.origin ?? null
  const caller = request ? request.caller : purpose ? PLUGIN_CODE : null
  return { lane, caller, request, signal: signal ?? null }
}

/** Readiness, version checks of cached responses, sessions: short statements that requests of all callers wait for. */
export const SERVER_READ: Work = createWork('read')

/** True if the work was aborted: it is not started. */
export const isAborted = ({ request, signal }: Work): boolean =>
  signal?.aborted === true || request?.isDisconnected === true
