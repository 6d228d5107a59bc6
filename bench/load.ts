import autocannon, { type Planned } from 'autocannon'
import type { PlanRequest } from './rows.ts'

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

const CONNECTIONS = 10

function toRequest({ method = 'GET', path, headers = {}, body }: PlanRequest): Planned {
  const isOfMade = path.includes(MADE)
  return {
    method,
    path,
    headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
    ...((body || isOfMade) && {
      setupRequest: (request, context) => ({
        ...request,
        ...(body && { body: JSON.stringify(body()) }),
        ...(isOfMade && { path: path.replace(MADE, context.made ?? '') }),
      }),
    }),
    ...(method === 'POST' && {
      onResponse(_, text, context) {
        const made = /"documentId"\s*:\s*"(\w+)"/.exec(text)?.[1]
        if (made !== undefined) context.made = made
      },
    }),
  }
}

const MADE = ':made'

/**
 * Ten connections, each with one request under way at a time. Each begins at another place of the list: else all of
 * them would ask for the same document, and writers would wait for one another's lock.
 */
export async function load(
  base: string,
  asked: readonly PlanRequest[],
  { seconds, rate }: Offer,
): Promise<Load> {
  const planned = asked.map(toRequest)
  const isOfMade = asked.some(({ path }) => path.includes(MADE))
  let clients = 0
  const answered = await autocannon({
    url: base,
    connections: CONNECTIONS,
    duration: seconds,
    ...(rate === undefined ? {} : { overallRate: rate }),
    requests: planned,
    setupClient: client => {
      // What is made first has to be made first on each connection.
      const from = isOfMade ? 0 : Math.floor((planned.length * clients++) / CONNECTIONS)
      client.setRequests([...planned.slice(from), ...planned.slice(0, from)])
    },
  })
  const { requests, duration, latency, errors } = answered
  return {
    total: requests.total,
    perSecond: requests.total / duration,
    p99: latency.p99,
    failed: errors + answered['4xx'] + answered['5xx'],
  }
}
