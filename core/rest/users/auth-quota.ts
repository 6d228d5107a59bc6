import { answerFault, type HttpAnswer } from '../../faults/exchange.ts'
import { tooManyRequests } from '../../faults/fault.ts'
import type { Quota } from '../../identity/rate-limit.ts'

/** An answer that says how many more there may be; over the limit (429) nothing is done. null: there is none. */
export async function limited(quota: Quota | null, perform: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
  if (!quota) return perform()
  const answer = quota.allowed ? await perform() : tooMany(quota)
  // The narrower limit, such as that of a mail address, has spoken already.
  return { ...answer, headers: { ...headersOf(quota), ...answer.headers } }
}

export function tooMany(quota: Quota): HttpAnswer {
  // Never more than the window, never less than what is left of it.
  const wait = Math.max(1, Math.ceil((quota.endsAt - Date.now()) / 1000))
  const answer = answerFault(tooManyRequests())
  return { ...answer, headers: { ...headersOf(quota), 'Retry-After': String(wait) } }
}

const headersOf = ({ limit, remaining, endsAt }: Quota): Readonly<Record<string, string>> => ({
  'X-RateLimit-Limit': String(limit),
  'X-RateLimit-Remaining': String(remaining),
  'X-RateLimit-Reset': String(Math.ceil(endsAt / 1000)),
})
