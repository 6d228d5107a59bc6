import type { Caller } from '../access/caller.ts'
import type { PermissionScope } from '../access/permission-scopes.ts'
import {
  type HttpRequest,
  type HttpResponse,
  refusalResponse,
  toFaultResponse,
} from '../faults/http-exchange.ts'
import type { RestContext, RouteInfo } from './context.ts'
import type { RouteHandler, RouteMethod } from './extension.ts'
import { type AuthenticateTerms, compileAuthenticate, type RouteAuth } from './route-auth.ts'
import {
  type BoundMiddleware,
  type BoundPolicy,
  checkPolicies,
  type PolicyTerms,
  runMiddlewares,
} from './run-plugins.ts'
import { type ContextTerms, openRestContext, type ReadArgs } from './services/request-context.ts'

/** Auth, policies and middlewares of one route. */
export interface GuardedRoute {
  readonly info: RouteInfo
  readonly auth: RouteAuth
  /** The route's own permission; null: none. */
  readonly own: PermissionScope | null
  readonly middlewares: readonly BoundMiddleware[]
  readonly policies: readonly BoundPolicy[]
}

export interface GuardTerms extends AuthenticateTerms, ContextTerms, PolicyTerms {}

export interface GuardedRequest {
  readonly request: HttpRequest
  readonly args: ReadArgs
  /**
   * Handles the request of an allowed caller. Returns the response, or null if it is in the context. `context` is null if no
   * plugin needs it.
   */
  handle(request: HttpRequest, caller: Caller, context: RestContext | null): Promise<HttpResponse | null>
}

/** Handles a request of one route: auth, then middlewares (the first outermost), policies in order, and the route. */
export type RouteGuard = (visit: GuardedRequest) => Promise<HttpResponse>

/** Compiled once, when the app is opened. `needsContext`: the route's handler uses a context. */
export function compileGuard(route: GuardedRoute, terms: GuardTerms, needsContext = false): RouteGuard {
  const admit = compileAuthenticate(route.auth, route.own, terms)
  const isBare = route.middlewares.length === 0 && route.policies.length === 0 && !needsContext
  return async ({ request, args, handle }) => {
    const { caller, acting } = await admit(request.headers.authorization)
    if (isBare) return (await handle(request, acting, null)) ?? throwUnanswered(route)
    const opened = openRestContext({ request, caller, args }, route.info, terms)
    const { context, response } = opened
    const inside = async () => {
      const refusal = await checkPolicies(route.policies, context, terms)
      const answer = refusal
        ? toFaultResponse(refusal)
        : await handle(opened.request.passed(), acting, context)
      if (answer) response.take(answer)
    }
    await runMiddlewares(route.middlewares, context, inside).catch(error =>
      response.take(refusalResponse(error)),
    )
    return response.toAnswer() ?? throwUnanswered(route)
  }
}

function throwUnanswered({ info, middlewares }: GuardedRoute): never {
  const names = middlewares.map(({ name }) => name).join(', ')
  throw new Error(
    `${info.route} has no response: one of its middlewares (${names}) neither called next() nor sent anything`,
  )
}

/** A route of an extension, with policies and middlewares bound. */
export interface ExtensionRoute {
  /** `extensions/search.ts` */
  readonly source: string
  readonly method: RouteMethod
  /** Relative to the prefix, as declared: `/restaurants/:documentId/menu`. */
  readonly path: string
  readonly handler: RouteHandler
  readonly auth: RouteAuth
  readonly policies: readonly BoundPolicy[]
  readonly middlewares: readonly BoundMiddleware[]
}

/** Segments of a path below the prefix; `:name` matches any segment. */
export const pathSegments = (path: string): readonly string[] => path.split('/').slice(1)

/** Equal for paths that match the same requests: ignores parameter names and case. */
export const routeShape = (path: string): string =>
  pathSegments(path)
    .map(word => (word.startsWith(':') ? ':' : word.toLowerCase()))
    .join('/')
