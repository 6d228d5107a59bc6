import type { Caller } from '../../access/caller.ts'
import type { UserValues } from '../../access/compile/condition.ts'
import type { HttpRequest } from '../../faults/http-exchange.ts'
import { createAbility } from '../ability.ts'
import type {
  PluginApp,
  PluginResponse,
  RequestState,
  RequestUser,
  ResolverContext,
  RestContext,
  RouteInfo,
} from '../context.ts'
import { type SharedRequest, SharedResponse, shareRequest } from './http-context.ts'

/** Parses the parameters of a route from the current query string. */
export type ReadArgs = (search: string) => Readonly<Record<string, unknown>>

export interface RestContextInput {
  readonly request: HttpRequest
  readonly caller: Caller
  readonly args: ReadArgs
}

/** A context with its request and response. */
export interface OpenRestContext {
  readonly context: RestContext
  readonly request: SharedRequest
  readonly response: SharedResponse
}

export interface ContextTerms {
  readonly app: PluginApp
  /** The name of a role by its key. */
  readonly roleName: (type: string) => string
}

export function openRestContext(
  { request, caller, args }: RestContextInput,
  info: RouteInfo,
  { app, roleName }: ContextTerms,
): OpenRestContext {
  const shared = shareRequest(request)
  const response = new SharedResponse()
  const context: RestContext = {
    kind: 'rest',
    app,
    parent: null,
    get args() {
      return args(shared.pluginRequest.search)
    },
    get context() {
      return context
    },
    info,
    http: { request: shared.pluginRequest, response },
    state: requestState(caller, roleName),
    is: kind => kind === 'rest',
  }
  return { context, request: shared, response }
}

/** The caller as plugins see it. */
export function requestState(caller: Caller, roleName: ContextTerms['roleName']): RequestState {
  const { kind, grants, user } = caller
  return {
    user: user && toRequestUser(user),
    token: kind === 'token' ? { name: grants.name } : null,
    role: kind === 'token' ? null : { type: grants.name, name: roleName(grants.name) },
    ability: createAbility(caller),
  }
}

/** Sessions load all these attributes (identity/users/user-values.ts). Those that validate a session are not exposed. */
function toRequestUser({ sessionVersion: _version, keptSession: _kept, ...user }: UserValues): RequestUser {
  return user as unknown as RequestUser
}

/** One GraphQL request as resolvers, policies and middlewares see it. */
export interface ResolverRequest {
  readonly context: ResolverContext
  /** The request for the endpoint; the body can be read again. */
  passed(): HttpRequest
  /** Response headers that plugins set. */
  headers(): Readonly<Record<string, string>>
}

export function openResolverRequest(
  request: HttpRequest,
  caller: Caller,
  { app, roleName }: ContextTerms,
): ResolverRequest {
  const shared = shareRequest(request)
  const response = new OperationResponse()
  const context: ResolverContext = {
    app,
    http: { request: shared.pluginRequest, response },
    state: requestState(caller, roleName),
  }
  return { context, passed: () => shared.passed(), headers: () => response.headers() }
}

/** Plugins can only add headers: the response is made from resolver results. */
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
