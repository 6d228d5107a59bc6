import type { Action } from '../access/actions.ts'

/** What the caller of a request may do. `app.documents(uid).as(ability)` acts within it. */
export interface Ability {
  /** `subject`: a content-type's key, or `users`, `auth`, `upload`, `i18n`, `role`. */
  can(action: Action, subject: string): boolean
}
