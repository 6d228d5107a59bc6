import type { Action } from '../access/actions.ts'
import type { Caller } from '../access/caller.ts'

/** What the caller of a request may do. `app.documents(uid).as(ability)` acts within it. */
export interface Ability {
  /** `subject`: a content-type's key, or `users`, `auth`, `upload`, `i18n`, `role`. */
  can(action: Action, subject: string): boolean
}

const CALLERS = new WeakMap<Ability, Caller>()

export function toAbility(caller: Caller): Ability {
  const ability: Ability = Object.freeze({
    can: (action: Action, subject: string) => caller.grants.allows(subject, action),
  })
  CALLERS.set(ability, caller)
  return ability
}

/** Whose ability it is; throws TypeError for one that no request carried. */
export function callerOf(ability: Ability): Caller {
  const caller = CALLERS.get(ability)
  if (!caller) throw new TypeError('as(…) takes the `state.ability` of a context')
  return caller
}
