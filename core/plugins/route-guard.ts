import type { Caller } from '../access/caller.ts'
import type { PermissionScope } from '../access/permission-scopes.ts'
import { forbidden, RequestFault } from '../faults/fault.ts'
import { type HttpRequest, type HttpResponse, toFaultResponse } from '../faults/http-exchange.ts'
import type { RestContext, RouteInfo } from './context.ts'
import { type BoundMiddleware, runAround } from './middlewares.ts'
import { askPolicies, type BoundPolicy, type PolicyTerms } from './policies.ts'
import { type AdmitTerms, compileAdmit, type Door } from './route-auth.ts'
import { type ContextTerms, openRestContext, type ReadArgs } from './services/rest-context.ts'

/** What stands before and round one route. */
export interface GuardedRoute {
  readonly info: RouteInfo
  readonly door: Door
  /** The route's own permission; null where it has none. */
  readonly own: PermissionScope | null
  readonly middlewares: readonly BoundMiddleware[]
  readonly policies: readonly BoundPolicy[]
}

export interface GuardTerms extends AdmitTerms, ContextTerms, PolicyTerms {}

export interface GuardedVisit {
  readonly request: HttpRequest
  readonly args: ReadArgs
  /** Answers for a caller who may, itself or (null) in the context, which is null where nobody needs one. */
  handle(request: HttpRequest, caller: Caller, context: RestContext | null): Promise<HttpResponse | null>
}

/** Answers a request of one route: auth, middlewares (the first outermost), policies in order, the route. */
export type RouteGuard = (visit: GuardedVisit) => Promise<HttpResponse>

/** Compiled once, at load; `needsContext`: the route itself works with one. */
export function compileGuard(route: GuardedRoute, terms: GuardTerms, needsContext = false): RouteGuard {
  const admit = compileAdmit(route.door, route.own, terms)
  const isBare = route.middlewares.length === 0 && route.policies.length === 0 && !needsContext
  return async ({ request, args, handle }) => {
    const admitted = await admit(request.headers.authorization)
    if (!admitted.ok) return toFaultResponse(admitted.reasons[0] ?? forbidden())
    const { caller, acting } = admitted.value
    if (isBare) return (await handle(request, acting, null)) ?? unanswered(route)
    const opened = openRestContext({ request, caller, args }, route.info, terms)
    const { context, response } = opened
    const inside = async () => {
      const refusal = await askPolicies(route.policies, context, terms)
      const answer = refusal
        ? toFaultResponse(refusal)
        : await handle(opened.request.passed(), acting, context)
      if (answer) response.take(answer)
    }
    await runAround(route.middlewares, context, inside).catch(error => response.take(answerThrown(error)))
    return response.toAnswer() ?? unanswered(route)
  }
}

function answerThrown(error: unknown): HttpResponse {
  // What became of the data is known where the whole request is.
  if (error instanceof RequestFault && error.fault.code !== 'unavailable') return toFaultResponse(error.fault)
  throw error
}

function unanswered({ info, middlewares }: GuardedRoute): never {
  const names = middlewares.map(({ name }) => name).join(', ')
  throw new Error(
    `nobody answered ${info.route}: one of its middlewares (${names}) neither called next() nor sent anything`,
  )
}
