import type { Caller, Grants } from '../access/caller.ts'
import { allowsAll, openGrants, type PermissionScope } from '../access/permission-scopes.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, forbidden } from '../faults/fault.ts'

/** Who may come in. */
export type Door =
  /** Everybody. */
  | { readonly kind: 'open' }
  /** Whoever has all of these permissions. */
  | { readonly kind: 'scope'; readonly scopes: readonly PermissionScope[] }
  /** The default: whoever has the route's own permission, or may use routes that have none. */
  | { readonly kind: 'own' }

export interface EntryTerms {
  readonly everything: Grants
  /** Whether a caller may use what has no permission of its own. */
  readonly isKnown: (caller: Caller) => boolean
}

/** The caller with the grants that he has inside; null: he may not come in. */
export type Enter = (caller: Caller) => Caller | null

/** `own`: the permission of what lies behind the door, null where it has none. */
export function compileEntry(door: Door, own: PermissionScope | null, terms: EntryTerms): Enter {
  const opened = new WeakMap<Grants, Grants>()
  const acting = (caller: Caller): Caller => {
    if (!own) return caller
    const grants = opened.get(caller.grants) ?? openGrants(caller.grants, openingOf(door, own, terms))
    opened.set(caller.grants, grants)
    return { ...caller, grants }
  }
  return caller => {
    if (!mayEnter(caller, door, own, terms)) return null
    return door.kind === 'own' ? caller : acting(caller)
  }
}

const openingOf = (door: Door, scope: PermissionScope, { everything }: EntryTerms) => ({
  scope,
  everything,
  keepsOwn: door.kind === 'scope',
  drafts: 'own' as const,
})

function mayEnter(caller: Caller, door: Door, own: PermissionScope | null, { isKnown }: EntryTerms): boolean {
  if (door.kind === 'open') return true
  if (door.kind === 'scope') return allowsAll(caller.grants, door.scopes)
  return own ? caller.grants.allows(own.subject, own.action) : isKnown(caller)
}

export interface AdmitTerms extends EntryTerms {
  readonly identify: (authorization: string | undefined) => Promise<Result<Caller, Fault>>
  readonly nobody: Caller
}

export interface Admitted {
  readonly caller: Caller
  /** With the grants that the route works with. */
  readonly acting: Caller
}

export type Admit = (authorization: string | undefined) => Promise<Result<Admitted, Fault>>

/** `own`: the route's permission, null where it has none. */
export function compileAdmit(door: Door, own: PermissionScope | null, terms: AdmitTerms): Admit {
  const enter = compileEntry(door, own, terms)
  return async authorization => {
    const found = await terms.identify(authorization)
    // A credential that is no longer any good keeps nobody from what is open to all.
    if (!found.ok && door.kind !== 'open') return found
    const caller = found.ok ? found.value : terms.nobody
    const acting = enter(caller)
    return acting ? ok({ caller, acting }) : failed(forbidden())
  }
}
