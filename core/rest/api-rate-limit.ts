import { tooManyRequests } from '../faults/fault.ts'
import {
  type HttpResponse,
  type Responder,
  refusalResponse,
  toFaultResponse,
} from '../faults/http-exchange.ts'
import { isTokenKey } from '../identity/callers.ts'
import { isPrivate, networkOf, openLocalLimit, type Quota, quotaReason } from '../identity/rate-limit.ts'
import type { ApiRateLimit } from '../project/settings/settings.ts'

/**
 * Rate limit across these paths: refuses (429) callers over it and passes all other requests on. No responder if the
 * limit is off. A caller counts as a token or user only if its credentials were verified before (reference/safety.md#s9-rate-limits).
 */
export function limitApiRate(limit: ApiRateLimit | false, paths: readonly string[]): readonly Responder[] {
  if (limit === false) return []
  const count = openCounters(limit)
  const starts = paths.map(path => `${path}/`.toLowerCase())
  return [
    ({ method, path, peer, origin }) => {
      const requested = `${path}/`.toLowerCase()
      if (method === 'OPTIONS' || !starts.some(start => requested.startsWith(start))) return null
      const network = networkOf(peer)
      if (!limit.privateNetworks && isPrivate(network)) return null
      const quota = count(origin?.caller ?? network)
      return quota.allowed ? null : answerTooMany(quota)
    },
  ]
}

function openCounters({ window, max, tokenMax }: ApiRateLimit): (caller: string) => Quota {
  const [others, tokens] = [openLocalLimit({ window, max }), openLocalLimit({ window, max: tokenMax })]
  return caller => (isTokenKey(caller) ? tokens : others)(caller)
}

/** Adds the quota's headers to an answer. Over the limit (429) the work is not performed. null: no limit. */
export async function withQuota(
  quota: Quota | null,
  perform: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  if (!quota) return perform()
  const answer = quota.allowed ? await perform().catch(refusalResponse) : answerTooMany(quota)
  // Headers of a narrower limit, such as that of a mail address, win.
  return { ...answer, headers: { ...quotaHeaders(quota), ...answer.headers } }
}

function answerTooMany(quota: Quota): HttpResponse {
  // The seconds left in the window, rounded up.
  const wait = Math.max(1, Math.ceil((quota.endsAt - Date.now()) / 1000))
  const answer = toFaultResponse(tooManyRequests(quotaReason(quota)))
  return { ...answer, headers: { ...quotaHeaders(quota), 'Retry-After': String(wait) } }
}

const quotaHeaders = ({ limit, remaining, endsAt }: Quota): Readonly<Record<string, string>> => ({
  'X-RateLimit-Limit': String(limit),
  'X-RateLimit-Remaining': String(remaining),
  'X-RateLimit-Reset': String(Math.ceil(endsAt / 1000)),
})
