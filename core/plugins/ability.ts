import type { Action } from '../access/actions.ts'
import type { Caller } from '../access/caller.ts'

/** What the caller of a request may do. `app.documents(uid).as(ability)` acts within it. */
export interface Ability {
  /** `subject`: a content-type's key, or `users`, `auth`, `upload`, `i18n`, `role`. */
  can(action: Action, subject: string): boolean
}

export function toAbility(caller: Caller): Ability {
  return Object.freeze({ can: (action: Action, subject: string) => caller.grants.allows(subject, action) })
}
