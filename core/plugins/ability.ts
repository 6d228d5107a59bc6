import { CallerAbility } from '../access/ability/open-ability.ts'
import type { Caller } from '../access/caller.ts'

/**
 * The permissions of a request's caller: a frozen CASL ability, which works with all of `@casl/ability`.
 * `app.documents(uid).as(ability)` acts within them. Subjects are keys of content-types, `users`, `auth`, `upload`,
 * `i18n` and `role`, or documents marked by `subject('article', document)`. A document must contain the values that a
 * condition compares; otherwise an AbilityError names the missing one.
 */
export type Ability = Pick<
  CallerAbility,
  'can' | 'cannot' | 'rules' | 'rulesFor' | 'relevantRuleFor' | 'permittedFieldsOf'
>

const CALLERS = new WeakMap<Ability, Caller>()

export function createAbility(caller: Caller): Ability {
  const ability = new CallerAbility(caller)
  CALLERS.set(ability, caller)
  return ability
}

/** The caller of an ability. Throws a TypeError for an object that did not come from a context. */
export function abilityCaller(ability: Ability): Caller {
  const caller = CALLERS.get(ability)
  if (!caller) throw new TypeError('as(…) takes the `state.ability` of a context')
  return caller
}
