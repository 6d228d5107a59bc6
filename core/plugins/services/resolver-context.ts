import type { Caller } from '../../access/caller.ts'
import type { HttpRequest } from '../../faults/http-exchange.ts'
import type { PluginResponse, ResolverContext } from '../context.ts'
import { shareRequest } from './http-context.ts'
import { type ContextTerms, stateOf } from './rest-context.ts'

/** One request of GraphQL, as its resolvers, policies and middlewares see it. */
export interface ResolverVisit {
  readonly context: ResolverContext
  /** What the endpoint gets of the request: its body, although plugins may read it. */
  passed(): HttpRequest
  /** What plugins add to the answer's headers. */
  headers(): Readonly<Record<string, string>>
}

export function openResolverVisit(
  request: HttpRequest,
  caller: Caller,
  { app, roleName }: ContextTerms,
): ResolverVisit {
  const shared = shareRequest(request)
  const response = new OperationResponse()
  const context: ResolverContext = {
    app,
    http: { request: shared.seen, response },
    state: stateOf(caller, roleName),
  }
  return { context, passed: () => shared.passed(), headers: () => response.headers() }
}

/** The answer is GraphQL's own: plugins add headers to it, and answer by what resolvers return. */
class OperationResponse implements PluginResponse {
  readonly #headers = new Map<string, readonly [string, string]>()

  readonly body = null
  readonly status = 0

  json(): undefined {
    return undefined
  }

  send(): never {
    throw new Error('a GraphQL operation is answered by its resolvers: http.response.send is for routes')
  }

  setHeader(name: string, value: string): void {
    this.#headers.set(name.toLowerCase(), [name, value])
  }

  headers(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#headers.values())
  }
}
