import { definePolicy, PolicyError } from 'plinth'

/** Maximum number of requests per caller and hour, by role key. Other roles may send none. */
type Config = { readonly perHour: Readonly<Record<string, number>> }

const HOUR = 60 * 60 * 1000
/** Requests in the current hour, by route and caller. Each process counts separately. */
const counts = new Map<string, { readonly since: number; requests: number }>()

/** Limits the requests of a caller per hour. The role of the caller determines the limit. */
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

function count(key: string) {
  // Ordered by age: the first entry that has not expired ends the search.
  for (const [old, { since }] of counts) {
    if (since > Date.now() - HOUR) break
    counts.delete(old)
  }
  const known = counts.get(key) ?? { since: Date.now(), requests: 0 }
  known.requests += 1
  counts.set(key, known)
  return known
}
