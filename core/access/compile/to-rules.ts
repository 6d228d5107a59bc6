import type { ContentType, Model } from '../../model/model.ts'
import type { PermissionTerms } from '../../project/settings/settings.ts'
import { actionsOf, BUILT_IN_ACTIONS, subjectOf } from '../actions.ts'
import { decide } from '../decide.ts'
import type { AbilityRule } from '../grants.ts'
import { entryOf, type PermissionTable } from '../permission-entries.ts'
import { compileCondition } from './compile-condition.ts'

/** The rules for every content-type and for `auth`. An action that is not granted has no rule. */
export const toRules = (entries: PermissionTable, model: Model): readonly AbilityRule[] => [
  ...[...model.contentTypes.values()].flatMap(type => typeRules(entries, type, model)),
  ...BUILT_IN_ACTIONS.auth
    .filter(action => entryOf(entries, 'auth', action)?.value)
    .map(action => ({ action, subject: 'auth' })),
]

function typeRules(entries: PermissionTable, type: ContentType, model: Model): readonly AbilityRule[] {
  const subject = subjectOf(type)
  return actionsOf(type).flatMap(action => {
    const { said } = decide(entries, type, action)
    return said ? [toRule(said, { action, subject, type }, model)] : []
  })
}

interface RulePlace {
  readonly action: string
  readonly subject: string
  readonly type: ContentType
}

function toRule(said: true | PermissionTerms, place: RulePlace, model: Model): AbilityRule {
  const { action, subject, type } = place
  if (said === true) return { action, subject }
  const fields = said.fields && coveredNames(said.fields, type)
  const conditions = said.where && conditionOf(said.where, type, model)
  return {
    action,
    subject,
    ...(fields ? { fields } : {}),
    ...(conditions ? { conditions } : {}),
    ...(said.set ? { set: said.set } : {}),
  }
}

/** The attributes that `fields` covers. Every readable document includes its system attributes. */
export function coveredNames(fields: readonly string[], type: ContentType): string[] {
  const leaves = fields.some(name => name.startsWith('!'))
  const named = new Set(fields.map(name => name.replace(/^!/, '')))
  return [...type.attributes.values()]
    .filter(({ name, system }) => system || named.has(name) !== leaves)
    .map(({ name }) => name)
}

/** The condition was checked when the project was loaded. Failing here is a bug and must not grant access without a condition. */
function conditionOf(where: NonNullable<PermissionTerms['where']>, type: ContentType, model: Model) {
  const compiled = compileCondition(where, type, model)
  if (!compiled.ok)
    throw new TypeError(
      `a condition on ${type.uid} was not checked: ${compiled.reasons.map(({ message }) => message).join('; ')}`,
    )
  return compiled.value
}
