import type { HttpResponse, Responder } from '../faults/http-exchange.ts'

/**
 * `starting`: the project is not served yet. `read-only`: the database takes no writes, so that nothing is answered.
 * `outdated`: another version of the project changed the tables.
 */
export type Readiness = 'starting' | 'ready' | 'unavailable' | 'read-only' | 'outdated'

export interface HealthTerms {
  readonly readiness: () => Promise<Readiness>
  /** Why it is not ready, in a sentence; undefined: the status says all. */
  readonly reason?: (status: Readiness) => string | undefined
  /** The state of each replica. */
  readonly states?: () => readonly string[]
}

/**
 * `/_health`: the process lives. `/_ready`: it can answer, for its database does; balancers send nothing here else.
 * Without its replicas it can, too.
 */
export function openHealth(terms: HealthTerms): Responder {
  return request => {
    const { path, method } = request
    if (!isHealthPath(path) || (method !== 'GET' && method !== 'HEAD')) return null
    request.route = 'health'
    if (path === '/_health') return { status: 204, body: null }
    return answerReady(terms)
  }
}

export const isHealthPath = (path: string): boolean => path === '/_health' || path === '/_ready'

async function answerReady({ readiness, reason: reasonOf, states }: HealthTerms): Promise<HttpResponse> {
  const status = await readiness().catch((): Readiness => 'unavailable')
  const replicas = countOf(states?.() ?? [])
  const reason = REASONS[status] ?? reasonOf?.(status)
  const body = { status, ...(reason && { reason }), ...(replicas && { replicas }) }
  return { status: status === 'ready' ? 200 : 503, body: JSON.stringify(body), headers: NEVER_STORED }
}

/** For whoever looks: which server it is, and what it said, is for the log alone. */
const REASONS: Readonly<Partial<Record<Readiness, string>>> = {
  'read-only': 'The database takes no writes: it is a standby, or default_transaction_read_only is on',
}

const NEVER_STORED = { 'Cache-Control': 'no-store' }

/** Of a server that ends: who still has a connection to it is to send what comes next elsewhere. */
export const STOPPING: HttpResponse = { status: 503, body: '{"status":"stopping"}', headers: NEVER_STORED }

/** How many are in each state: which, and where they are, is for the log alone. */
function countOf(states: readonly string[]): Readonly<Record<string, number>> | null {
  if (states.length === 0) return null
  const counts: Record<string, number> = {}
  for (const state of states) counts[state] = (counts[state] ?? 0) + 1
  return counts
}
