import { Readable } from 'node:stream'
import { isDeeperThan } from '../../base/plain-data.ts'
import { toPluginError, ValidationError } from '../../faults/errors.ts'
import { RequestFault } from '../../faults/fault.ts'
import type { HttpRequest, HttpResponse } from '../../faults/http-exchange.ts'
import { MAX_BODY_DEPTH } from '../../query/parse-json.ts'
import type { PluginRequest, PluginResponse, SendTerms } from '../context.ts'

export interface SharedRequest {
  /** The request as plugins see it. */
  readonly pluginRequest: PluginRequest
  /** The request for the route: with the query string as plugins left it; the body can be read again. */
  passed(): HttpRequest
}

/** Makes a request readable by plugins and by the route. */
export function shareRequest(request: HttpRequest): SharedRequest {
  let reading: Promise<Buffer> | undefined
  const read = () => {
    reading ??= request.body()
    return reading
  }
  const body = () =>
    read().catch(error => {
      throw error instanceof RequestFault ? toPluginError(error.fault) : error
    })
  const { id, method, path, headers, peer, timing = null, origin } = request
  const seen: PluginRequest = {
    ...{ id, method, path, headers, peer },
    search: request.search,
    body,
    json: async () => parseBody(await body()),
  }
  return {
    pluginRequest: seen,
    passed: () => ({
      ...{ id, method, path, headers, peer, timing, origin },
      ...(request.writes && { writes: request.writes }),
      search: seen.search,
      body: read,
      stream: () => (reading ? Readable.from(bodyStream(body)) : request.stream()),
    }),
  }
}

async function* bodyStream(body: () => Promise<Buffer>): AsyncGenerator<Buffer> {
  yield await body()
}

function parseBody(body: Buffer): unknown {
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString('utf8'))
  } catch (error) {
    throw new ValidationError(error instanceof Error ? error.message : 'The body is no JSON')
  }
  if (isDeeperThan(parsed, MAX_BODY_DEPTH))
    throw new ValidationError(`A body may be at most ${MAX_BODY_DEPTH} levels deep`)
  return parsed
}

/** A response that plugins and the route can still change. */
export class SharedResponse implements PluginResponse {
  #answer: HttpResponse | null = null
  readonly #headers = new Map<string, readonly [string, string]>()

  get answered(): boolean {
    return this.#answer !== null
  }

  get status(): number {
    return this.#answer?.status ?? 0
  }

  set status(status: number) {
    this.#answer = { ...(this.#answer ?? { body: null }), status }
  }

  get body(): string | Buffer | null {
    return this.#answer?.body ?? null
  }

  json(): unknown {
    try {
      return JSON.parse(String(this.body))
    } catch (error) {
      if (error instanceof SyntaxError) return undefined
      throw error
    }
  }

  send(value: unknown, { status = 200, type }: SendTerms = {}): void {
    const isRaw = type !== undefined && (typeof value === 'string' || Buffer.isBuffer(value))
    const body = isRaw ? value : (JSON.stringify(value) ?? null)
    this.#answer = { status, body, hasEtag: true, ...(type === undefined ? {} : { type }) }
  }

  setHeader(name: string, value: string): void {
    this.#headers.set(name.toLowerCase(), [name, value])
  }

  /** Sets the response of the route. */
  take(answer: HttpResponse): void {
    this.#answer = answer
  }

  /** null: no response was set. */
  toAnswer(): HttpResponse | null {
    if (!this.#answer || this.#headers.size === 0) return this.#answer
    const own = Object.entries(this.#answer.headers ?? {}).filter(
      ([name]) => !this.#headers.has(name.toLowerCase()),
    )
    return { ...this.#answer, headers: Object.fromEntries([...own, ...this.#headers.values()]) }
  }
}
