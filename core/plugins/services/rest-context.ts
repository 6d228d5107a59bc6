import type { Caller } from '../../access/caller.ts'
import type { UserValues } from '../../access/compile/condition.ts'
import type { HttpRequest } from '../../faults/http-exchange.ts'
import { toAbility } from '../ability.ts'
import type { RequestState, RequestUser, RestContext, RouteInfo } from '../context.ts'
import { type SharedRequest, SharedResponse, shareRequest } from './http-context.ts'
import type { PluginApp } from './plugin-app.ts'

/** The parameters of a route, parsed from the query string as it is then. */
export type ReadArgs = (search: string) => Readonly<Record<string, unknown>>

export interface RestVisit {
  readonly request: HttpRequest
  readonly caller: Caller
  readonly args: ReadArgs
}

/** A context, and what it was made of. */
export interface OpenContext {
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
  { request, caller, args }: RestVisit,
  info: RouteInfo,
  { app, roleName }: ContextTerms,
): OpenContext {
  const shared = shareRequest(request)
  const response = new SharedResponse()
  const context: RestContext = {
    kind: 'rest',
    app,
    parent: null,
    get args() {
      return args(shared.seen.search)
    },
    get context() {
      return context
    },
    info,
    http: { request: shared.seen, response },
    state: stateOf(caller, roleName),
    is: kind => kind === 'rest',
  }
  return { context, request: shared, response }
}

/** Who asks, as plugins see him. */
export function stateOf(caller: Caller, roleName: ContextTerms['roleName']): RequestState {
  const { kind, grants, user } = caller
  return {
    user: user && shown(user),
    token: kind === 'token' ? { name: grants.name } : null,
    role: kind === 'token' ? null : { type: grants.name, name: roleName(grants.name) },
    ability: toAbility(caller),
  }
}

/** A session's user has all of this (identity/user-values.ts); which session it is, is nobody's business. */
function shown({ sessionVersion: _session, ...user }: UserValues): RequestUser {
  return user as unknown as RequestUser
}
