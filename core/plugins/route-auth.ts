import type { Caller, Grants } from '../access/caller.ts'
import { allowsAll, openGrants, type PermissionScope } from '../access/permission-scopes.ts'
import { forbidden, RequestFault } from '../faults/fault.ts'

/** Access rule of a route or field. */
export type RouteAuth =
  /** Public. */
  | { readonly kind: 'open' }
  /** Requires all of these permissions. */
  | { readonly kind: 'scope'; readonly scopes: readonly PermissionScope[] }
  /** Default: requires the route's own permission; a route without one requires a known caller. */
  | { readonly kind: 'own' }

export interface RouteAuthTerms {
  readonly everything: Grants
  /** True if a caller may use routes and fields without a permission of their own. */
  readonly isKnown: (caller: Caller) => boolean
}

/** Returns the caller with the grants inside the route; null: refused. */
export type Authorize = (caller: Caller) => Caller | null

/** `own`: permission of the route or field; null: none. */
export function compileAuthorize(
  auth: RouteAuth,
  own: PermissionScope | null,
  terms: RouteAuthTerms,
): Authorize {
  const opened = new WeakMap<Grants, Grants>()
  const acting = (caller: Caller): Caller => {
    if (!own) return caller
    const grants = opened.get(caller.grants) ?? openGrants(caller.grants, grantsToOpen(auth, own, terms))
    opened.set(caller.grants, grants)
    return { ...caller, grants }
  }
  return caller => {
    if (!isAllowed(caller, auth, own, terms)) return null
    return auth.kind === 'own' ? caller : acting(caller)
  }
}

const grantsToOpen = (auth: RouteAuth, scope: PermissionScope, { everything }: RouteAuthTerms) => ({
  scope,
  everything,
  keepsOwn: auth.kind === 'scope',
  drafts: 'own' as const,
})

function isAllowed(
  caller: Caller,
  auth: RouteAuth,
  own: PermissionScope | null,
  { isKnown }: RouteAuthTerms,
): boolean {
  if (auth.kind === 'open') return true
  if (auth.kind === 'scope') return allowsAll(caller.grants, auth.scopes)
  return own ? caller.grants.allows(own.subject, own.action) : isKnown(caller)
}

export interface AuthenticateTerms extends RouteAuthTerms {
  readonly identify: (authorization: string | undefined) => Promise<Caller>
  readonly publicCaller: Caller
}

export interface AuthenticatedCaller {
  readonly caller: Caller
  /** The caller with the grants inside the route. */
  readonly acting: Caller
}

export type Authenticate = (authorization: string | undefined) => Promise<AuthenticatedCaller>

/** `own`: permission of the route; null: none. */
export function compileAuthenticate(
  auth: RouteAuth,
  own: PermissionScope | null,
  terms: AuthenticateTerms,
): Authenticate {
  const authorize = compileAuthorize(auth, own, terms)
  return async authorization => {
    const caller = await terms.identify(authorization).catch(error => {
      // An invalid credential does not prevent access to a public route.
      if (auth.kind === 'open' && error instanceof RequestFault && error.fault.code === 'unauthorized')
        return terms.publicCaller
      throw error
    })
    const acting = authorize(caller)
    if (!acting) throw new RequestFault(forbidden())
    return { caller, acting }
  }
}
