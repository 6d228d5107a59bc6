import autocannon from 'autocannon'
import type { Asked } from './rows.ts'

export interface Load {
  readonly total: number
  readonly perSecond: number
  /** Milliseconds. */
  readonly p99: number
  readonly failed: number
}

export interface Offer {
  readonly seconds: number
  /** Requests a second; absent: as many as are answered. */
  readonly rate?: number | undefined
}

/** Ten connections, each with one request under way at a time. */
export async function load(base: string, asked: readonly Asked[], { seconds, rate }: Offer): Promise<Load> {
  const { requests, duration, latency, errors, non2xx } = await autocannon({
    url: base,
    connections: 10,
    duration: seconds,
    ...(rate === undefined ? {} : { overallRate: rate }),
    requests: asked.map(({ method = 'GET', path, headers = {}, body }) => ({
      method,
      path,
      headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
      ...(body && { setupRequest: request => ({ ...request, body: JSON.stringify(body()) }) }),
    })),
  })
  return {
    total: requests.total,
    perSecond: requests.total / duration,
    p99: latency.p99,
    failed: errors + non2xx,
  }
}
