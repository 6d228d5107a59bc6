import assert from 'node:assert/strict'
import { Agent, type IncomingMessage, request } from 'node:http'

/** What a loop asks for: a path, or what else a request needs. */
export interface Request {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Loop {
  readonly total: number
  readonly perSecond: number
  /** Milliseconds, with fractions. */
  readonly p50: number
  readonly p99: number
}

export interface LoopOptions {
  readonly clients: number
  readonly seconds: number
  /** The least that each client asks for, however long it takes. */
  readonly least: number
}

/**
 * Clients with one request under way each, that ask in turn; every one is answered before the loop ends, so that the
 * time of a slow statement is shared by as many requests as there were.
 */
export async function runLoop(base: string, asked: readonly Request[], options: LoopOptions): Promise<Loop> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.clients })
  const began = performance.now()
  const until = began + options.seconds * 1000
  const times: number[] = []
  const client = async (_: unknown, number: number): Promise<void> => {
    let at = Math.floor((asked.length * number) / options.clients)
    for (let sent = 0; sent < options.least || performance.now() < until; sent++) {
      const next = asked[at++ % asked.length]
      assert(next)
      const start = performance.now()
      const { status } = await send(base, next, agent)
      times.push(performance.now() - start)
      assert.equal(status, 200, `${next.path} was answered ${status}`)
    }
  }
  await Promise.all(Array.from({ length: options.clients }, client))
  const seconds = (performance.now() - began) / 1000
  agent.destroy()
  times.sort((a, b) => a - b)
  return {
    total: times.length,
    perSecond: times.length / seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  }
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

interface Answered {
  readonly status: number
  readonly text: string
}

/** One request over a kept connection. */
export const send = (
  base: string,
  { method = 'GET', path, headers = {}, body }: Request,
  agent: Agent,
): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const sent = request(base + path, { method, headers, agent }, response => {
      textOf(response).then(text => resolve({ status: response.statusCode ?? 0, text }), reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
