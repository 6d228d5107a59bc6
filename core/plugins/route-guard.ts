import type { Caller, Grants } from '../access/caller.ts'
import { missingPermission } from '../access/denial.ts'
import { allowsAll, openGrants, type PermissionScope } from '../access/permission-scopes.ts'
import { forbidden, RequestFault } from '../faults/fault.ts'
import {
  type HttpRequest,
  type HttpResponse,
  refusalResponse,
  toFaultResponse,
} from '../faults/http-exchange.ts'
import type { RestContext, RouteInfo } from './context.ts'
import type { RouteHandler, RouteMethod } from './extension.ts'
import type { ExpressMiddleware } from './middleware.ts'
import {
  type BoundMiddleware,
  type BoundPolicy,
  checkPolicies,
  type PolicyOptions,
  runMiddlewares,
} from './run-plugins.ts'
import { type ContextOptions, openRestContext } from './services/plugin-context.ts'
import type { RouteArguments } from './services/shared-query.ts'

/** Auth, policies and middlewares of one route. */
export interface GuardedRoute {
  readonly info: RouteInfo
  readonly auth: RouteAuth
  /** The route's own permission; null: none. */
  readonly own: PermissionScope | null
  readonly middlewares: readonly BoundMiddleware[]
  readonly policies: readonly BoundPolicy[]
}

export interface GuardOptions extends AuthenticateOptions, ContextOptions, PolicyOptions {}

export interface GuardedRequest {
  readonly request: HttpRequest
  readonly args: RouteArguments
  /**
   * Handles the request of an allowed caller. Returns the response, or null if it is in the context. `current` returns the
   * request as plugins have left it. `context` is null if no plugin needs it.
   */
  handle(
    current: () => HttpRequest,
    caller: Caller,
    context: RestContext | null,
  ): Promise<HttpResponse | null>
}

/** Handles a request of one route: auth, then middlewares (the first outermost), policies in order, and the route. */
export type RouteGuard = (visit: GuardedRequest) => Promise<HttpResponse>

/** Compiled once, when the app is opened. `needsContext`: the route's handler uses a context. */
export function compileGuard(route: GuardedRoute, options: GuardOptions, needsContext = false): RouteGuard {
  const admit = compileAuthenticate(route.auth, route.own, options)
  const isBare = route.middlewares.length === 0 && route.policies.length === 0 && !needsContext
  return async ({ request, args, handle }) => {
    const { caller, acting } = await admit(request.headers.authorization)
    request.identified = caller
    if (isBare) return (await handle(() => request, acting, null)) ?? throwUnanswered(route)
    const opened = openRestContext({ request, caller, args }, route.info, options)
    const { context, response } = opened
    const inside = async () => {
      const refusal = await checkPolicies(route.policies, context, options)
      const answer = refusal
        ? toFaultResponse(refusal)
        : await handle(() => opened.request.passed(), acting, context)
      if (answer) response.take(answer)
    }
    await runMiddlewares(route.middlewares, context, inside).catch(error =>
      response.take(refusalResponse(error)),
    )
    return response.close() ?? throwUnanswered(route)
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
  /** The line of a stack that leads to `rest.route(…)`. */
  readonly declaredAt: string
  readonly method: RouteMethod
  /** Relative to the prefix, as declared: `/restaurants/:documentId/menu`. */
  readonly path: string
  readonly handler: RouteHandler
  /** It takes the place of the generated route with this method and path. */
  readonly replaces: boolean
  /** `auth` was given: it replaces that of a replaced route. */
  readonly hasAuth: boolean
  readonly auth: RouteAuth
  readonly policies: readonly BoundPolicy[]
  readonly middlewares: readonly BoundMiddleware[]
}

/** An Express router of an extension, with policies bound. */
export interface RouterMount {
  /** `extensions/shop.ts` */
  readonly source: string
  /** The line of a stack that leads to `rest.mount(…)`. */
  readonly declaredAt: string
  /** Relative to the prefix: `/shop`. */
  readonly path: string
  readonly router: ExpressMiddleware
  readonly auth: RouteAuth
  readonly policies: readonly BoundPolicy[]
}

/** Segments of a path below the prefix; `:name` matches any segment. */
export const pathSegments = (path: string): readonly string[] => path.split('/').slice(1)

/** Equal for paths that match the same requests: ignores parameter names and case. */
export const routeShape = (path: string): string =>
  pathSegments(path)
    .map(word => (word.startsWith(':') ? ':' : word.toLowerCase()))
    .join('/')

/** Access rule of a route or field. */
export type RouteAuth =
  /** Public. */
  | { readonly kind: 'open' }
  /** Requires all of these permissions. */
  | { readonly kind: 'scope'; readonly scopes: readonly PermissionScope[] }
  /** Default: requires the route's own permission; a route without one requires a known caller. */
  | { readonly kind: 'own' }

export interface RouteAuthOptions {
  readonly everything: Grants
  /** True if a caller may use routes and fields without a permission of their own. */
  readonly isKnown: (caller: Caller) => boolean
}

/** Returns the caller with the grants inside the route; throws a RequestFault (403) for others. */
export type Authorize = (caller: Caller) => Caller

/** `own`: permission of the route or field; null: none. */
export function compileAuthorize(
  auth: RouteAuth,
  own: PermissionScope | null,
  options: RouteAuthOptions,
): Authorize {
  const opened = new WeakMap<Grants, Grants>()
  const acting = (caller: Caller): Caller => {
    if (!own) return caller
    const grants = opened.get(caller.grants) ?? openGrants(caller.grants, grantsToOpen(auth, own, options))
    opened.set(caller.grants, grants)
    return { ...caller, grants }
  }
  return caller => {
    if (!isAllowed(caller, auth, own, options))
      throw new RequestFault(forbidden(refusalReason(caller, auth, own)))
    return auth.kind === 'own' ? caller : acting(caller)
  }
}

const grantsToOpen = (auth: RouteAuth, scope: PermissionScope, { everything }: RouteAuthOptions) => ({
  scope,
  everything,
  keepsOwn: auth.kind === 'scope',
  drafts: 'own' as const,
})

function isAllowed(
  caller: Caller,
  auth: RouteAuth,
  own: PermissionScope | null,
  { isKnown }: RouteAuthOptions,
): boolean {
  if (auth.kind === 'open') return true
  if (auth.kind === 'scope') return allowsAll(caller.grants, auth.scopes)
  return own ? caller.grants.allows(own.subject, own.action) : isKnown(caller)
}

/** `auth` is not `open`, which refuses no caller. */
function refusalReason(caller: Caller, auth: RouteAuth, own: PermissionScope | null): string {
  const scopes = auth.kind === 'scope' ? auth.scopes : own ? [own] : []
  const missing = scopes.find(({ subject, action }) => !caller.grants.allows(subject, action))
  return missing
    ? missingPermission(caller, `${missing.subject}.${missing.action}`)
    : 'The route has no permission of its own, so it needs a signed-in user or a full-access token: send one, or declare `auth` of the route'
}

interface AuthenticateOptions extends RouteAuthOptions {
  readonly identify: (authorization: string | undefined) => Promise<Caller>
  readonly publicCaller: Caller
}

interface AuthenticatedCaller {
  readonly caller: Caller
  /** The caller with the grants inside the route. */
  readonly acting: Caller
}

type Authenticate = (authorization: string | undefined) => Promise<AuthenticatedCaller>

/** `own`: permission of the route; null: none. */
function compileAuthenticate(
  auth: RouteAuth,
  own: PermissionScope | null,
  options: AuthenticateOptions,
): Authenticate {
  const authorize = compileAuthorize(auth, own, options)
  return async authorization => {
    const caller = await options.identify(authorization).catch(error => {
      // An invalid credential does not prevent access to a public route.
      if (auth.kind === 'open' && error instanceof RequestFault && error.fault.code === 'unauthorized')
        return options.publicCaller
      throw error
    })
    return { caller, acting: authorize(caller) }
  }
}
