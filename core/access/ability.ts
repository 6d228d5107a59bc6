import { Ability, type RawRule } from '@casl/ability'
import type { PermissionTerms } from '../project/settings/settings.ts'
import type { Condition } from './compile/condition.ts'

/** One permission as CASL has it: no fields is every field, no condition every row. */
export type AbilityRule = RawRule<[string, string], Condition> & {
  /** What the server writes, whatever the body says. */
  readonly set?: PermissionTerms['set']
}

export type AccessAbility = Ability<[string, string], Condition>

/**
 * The rules of one role or token. Questions are asked of subjects' names alone: whether a row meets a condition
 * is for the database to say, so that no row is ever judged here.
 */
export const toAbility = (rules: readonly AbilityRule[]): AccessAbility =>
  new Ability<[string, string], Condition>([...rules], {
    conditionsMatcher: () => () => false,
    fieldMatcher: fields => field => fields.includes(field),
  })
