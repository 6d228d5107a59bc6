import type { HttpResponse, Responder } from '../faults/http-exchange.ts'

/**
 * `starting`: the project is not served yet. `read-only`: the database refuses writes, so no request is served.
 * `outdated`: another version of the project has migrated the database.
 */
export type Readiness = 'starting' | 'ready' | 'unavailable' | 'read-only' | 'outdated'

export interface HealthOptions {
  readonly readiness: () => Promise<Readiness>
  /** Why it is not ready, in one sentence; undefined: the status is enough. */
  readonly reason?: (status: Readiness) => string | undefined
  /** The state of each replica. */
  readonly states?: () => readonly string[]
}

/**
 * `/_health` (liveness): 204 while the process runs. `/_ready` (readiness, for load balancers): 200 while the primary
 * database answers; replicas do not matter.
 */
export function openHealth(options: HealthOptions): Responder {
  return request => {
    const { path, method } = request
    if (!isHealthPath(path) || (method !== 'GET' && method !== 'HEAD')) return null
    request.route = 'health'
    if (path === '/_health') return { status: 204, body: null }
    return answerReady(options)
  }
}

export const isHealthPath = (path: string): boolean => path === '/_health' || path === '/_ready'

async function answerReady({ readiness, reason: reasonOf, states }: HealthOptions): Promise<HttpResponse> {
  const status = await readiness().catch((): Readiness => 'unavailable')
  const replicas = countStates(states?.() ?? [])
  const reason = REASONS[status] ?? reasonOf?.(status)
  const body = { status, ...(reason && { reason }), ...(replicas && { replicas }) }
  return { status: status === 'ready' ? 200 : 503, body: JSON.stringify(body), headers: NEVER_STORED }
}

/** Public texts: the server's address and its messages are only logged. */
const REASONS: Readonly<Partial<Record<Readiness, string>>> = {
  'read-only': 'The database takes no writes: it is a standby, or default_transaction_read_only is on',
}

const NEVER_STORED = { 'Cache-Control': 'no-store' }

/** The readiness of a server that closes: load balancers must send later requests elsewhere. */
export const STOPPING: HttpResponse = { status: 503, body: '{"status":"stopping"}', headers: NEVER_STORED }

/** The number of replicas in each state. Their names and addresses are only logged. */
function countStates(states: readonly string[]): Readonly<Record<string, number>> | null {
  if (states.length === 0) return null
  const counts: Record<string, number> = {}
  for (const state of states) counts[state] = (counts[state] ?? 0) + 1
  return counts
}
