import type { Action } from '../access/actions.ts'
import type { Caller } from '../access/caller.ts'

/** Permissions of a request's caller. `app.documents(uid).as(ability)` acts within them. */
export interface Ability {
  /** `subject`: key of a content-type, or `users`, `auth`, `upload`, `i18n`, `role`. */
  can(action: Action, subject: string): boolean
}

const CALLERS = new WeakMap<Ability, Caller>()

export function createAbility(caller: Caller): Ability {
  const ability: Ability = Object.freeze({
    can: (action: Action, subject: string) => caller.grants.allows(subject, action),
  })
  CALLERS.set(ability, caller)
  return ability
}

/** The caller of an ability. Throws a TypeError for an object that did not come from a context. */
export function abilityCaller(ability: Ability): Caller {
  const caller = CALLERS.get(ability)
  if (!caller) throw new TypeError('as(…) takes the `state.ability` of a context')
  return caller
}
