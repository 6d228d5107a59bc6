import { definePolicy, PolicyError } from 'plinth'

interface Config {
  /** Requests that one caller may make in an hour, by the key of his role. A role that is not here may make none. */
  readonly perHour: Readonly<Record<string, number>>
}

const HOUR = 60 * 60 * 1000

/** By route and caller: requests in the hour that began then. In this process alone: behind a balancer, each counts for itself. */
const counts = new Map<string, { readonly since: number; requests: number }>()

/** Limits what a caller may do in an hour, by his plan: his role. */
export default definePolicy<Config>({
  configSchema: {
    type: 'object',
    properties: { perHour: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } } },
    required: ['perHour'],
    additionalProperties: false,
  },
  check({ kind, info, http, state }, { perHour }) {
    if (kind !== 'rest' || state.role === null) return true
    const limit = perHour[state.role.type] ?? 0
    const { since, requests } = count(`${info.route} ${state.user?.id ?? http.request.peer}`)
    if (requests <= limit) return true
    const seconds = Math.ceil((since + HOUR - Date.now()) / 1000)
    http.response.setHeader('Retry-After', String(seconds))
    throw new PolicyError(`Your plan allows ${limit} of these an hour`, { limit, retryAfter: seconds })
  },
})

function count(key: string): { readonly since: number; readonly requests: number } {
  forget(Date.now() - HOUR)
  const known = counts.get(key) ?? { since: Date.now(), requests: 0 }
  known.requests += 1
  counts.set(key, known)
  return known
}

/** In the order in which they came, so the first that is young enough ends the search. */
function forget(before: number): void {
  for (const [key, { since }] of counts) {
    if (since > before) return
    counts.delete(key)
  }
}
