import { Ability } from '@casl/ability'
import { once } from '../../base/memo.ts'
import type { Attribute, ContentType, Model } from '../../model/model.ts'
import type { PermissionOptions } from '../../project/settings/settings.ts'
import { type Action, actionsOf, BUILT_IN_ACTIONS, isReadAction, subjectOf } from '../actions.ts'
import type { Grants, ReadAccess, WriteAccess, WriteAction } from '../caller.ts'
import { coversOnlyNew, decide } from '../decide.ts'
import { entryOf, type PermissionTable } from '../permission-entries.ts'
import { readableAttributes } from '../readable-attributes.ts'
import { compileCondition } from './compile-condition.ts'
import type { AbilityRule, Condition, RoleRules } from './condition.ts'

/** The rules for every content-type and for `auth`. An action that is not granted has no rule. */
export const toRules = (entries: PermissionTable, model: Model): RoleRules => ({
  rules: [
    ...[...model.contentTypes.values()].flatMap(type => typeRules(entries, type, model)),
    ...BUILT_IN_ACTIONS.auth
      .filter(action => entryOf(entries, 'auth', action)?.value)
      .map(action => ({ action, subject: 'auth' })),
  ],
  model,
})

function typeRules(entries: PermissionTable, type: ContentType, model: Model): readonly AbilityRule[] {
  const subject = subjectOf(type)
  return actionsOf(type).flatMap(action => {
    const decision = decide(entries, type, action)
    if (!decision.value) return []
    const rule = toRule(decision.value, { action, subject, type }, model)
    return [coversOnlyNew(decision, action) ? { ...rule, onlyNew: true } : rule]
  })
}

interface RulePlace {
  readonly action: string
  readonly subject: string
  readonly type: ContentType
}

function toRule(value: true | PermissionOptions, place: RulePlace, model: Model): AbilityRule {
  const { action, subject, type } = place
  if (value === true) return { action, subject }
  const fields = value.fields && coveredNames(value.fields, type)
  const conditions = value.where && conditionOf(value.where, type, model)
  return {
    action,
    subject,
    ...(fields ? { fields } : {}),
    ...(conditions ? { conditions } : {}),
    ...(value.set ? { set: value.set } : {}),
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
function conditionOf(where: NonNullable<PermissionOptions['where']>, type: ContentType, model: Model) {
  const compiled = compileCondition(where, type, model)
  if (!compiled.ok)
    throw new TypeError(
      `a condition on ${type.uid} was not checked: ${compiled.reasons.map(({ message }) => message).join('; ')}`,
    )
  return compiled.value
}

/** The grants of one ability. Access to each type is computed on first use and memoized: a project may have hundreds of types. */
export function toGrants(name: string, makeRules: () => RoleRules): Grants {
  const rules = once(makeRules)
  const ability = once(() => toCaslAbility(rules().rules))
  const views = new Map<ContentType, Map<Action, ReadAccess | null>>()
  const writings = new Map<ContentType, Map<WriteAction, WriteAccess | null>>()
  return Object.freeze({
    name,
    allows: (subject: string, action: Action) => ability().can(action, subject),
    readAccess: (type: ContentType, action: Action) =>
      keep(views, type, action, () => viewOf(ability(), type, action)),
    writeAccess: (type: ContentType, action: WriteAction) =>
      keep(writings, type, action, () => writingOf(rules().rules, type, action)),
    roleRules: rules,
  })
}

function keep<Act, Made>(
  kept: Map<ContentType, Map<Act, Made>>,
  type: ContentType,
  action: Act,
  make: () => Made,
): Made {
  const known = kept.get(type) ?? new Map<Act, Made>()
  kept.set(type, known)
  const before = known.get(action)
  if (before !== undefined) return before
  const made = make()
  known.set(action, made)
  return made
}

/** Each action of each subject has at most one rule (to-rules.ts). */
function writingOf(
  rules: readonly AbilityRule[],
  type: ContentType,
  action: WriteAction,
): WriteAccess | null {
  const rule = rules.find(each => each.subject === subjectOf(type) && each.action === action)
  if (!rule) return null
  const { fields, conditions, set, onlyNew } = rule
  return Object.freeze({
    fields: fields === undefined ? null : new Set([fields].flat()),
    where: conditions ?? null,
    set: set ?? {},
    ...(onlyNew && { onlyNew }),
  })
}

function viewOf(ability: AccessAbility, type: ContentType, action: Action): ReadAccess | null {
  const rule = ruleOf(ability, type, action)
  if (!rule) return null
  if (!isReadAction(action)) return answerOf(ability, type, action)
  const drafts = ruleOf(ability, type, 'readDrafts')
  return Object.freeze({
    readable: readableOf(rule.fields, type),
    where: rule.conditions ?? null,
    drafts: drafts ? Object.freeze({ where: drafts.conditions ?? null }) : null,
  })
}

/** The author of a write gets its answer, whatever else they may read: the readable attributes, or those of the written action. */
function answerOf(ability: AccessAbility, type: ContentType, action: Action): ReadAccess {
  const shown =
    ruleOf(ability, type, 'findOne') ?? ruleOf(ability, type, 'find') ?? ruleOf(ability, type, action)
  return Object.freeze({
    readable: readableOf(shown?.fields, type),
    where: null,
    drafts: Object.freeze({ where: null }),
  })
}

const ruleOf = (ability: AccessAbility, type: ContentType, action: Action) =>
  ability.relevantRuleFor(action, subjectOf(type))

/** A permission never makes private attributes readable. */
function readableOf(fields: readonly string[] | undefined, type: ContentType): ReadonlySet<Attribute> {
  const visible = readableAttributes(type)
  return fields ? new Set([...visible].filter(({ name }) => fields.includes(name))) : visible
}

type AccessAbility = Ability<[string, string], Condition>

/**
 * The rules of one role or token. They are queried by the subject's name only: the database evaluates the conditions
 * on rows, so nothing here ever inspects a row.
 */
const toCaslAbility = (rules: readonly AbilityRule[]): AccessAbility =>
  new Ability<[string, string], Condition>([...rules], {
    conditionsMatcher: () => () => false,
    fieldMatcher: fields => field => fields.includes(field),
  })
