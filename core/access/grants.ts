import { Ability, type RawRule } from '@casl/ability'
import { once } from '../base/memo.ts'
import type { Attribute, ContentType } from '../model/model.ts'
import type { PermissionTerms } from '../project/settings/settings.ts'
import { type Action, isReadAction, subjectOf } from './actions.ts'
import type { Grants, ReadAccess, WriteAccess, WriteAction } from './caller.ts'
import type { Condition } from './compile/condition.ts'
import { readableAttributes } from './restrict/readable-attributes.ts'

/** The grants of one ability. Access to each type is computed on first use and memoized: a project may have hundreds of types. */
export function toGrants(name: string, makeRules: () => readonly AbilityRule[]): Grants {
  const rules = once(makeRules)
  const ability = once(() => toCaslAbility(rules()))
  const views = new Map<ContentType, Map<Action, ReadAccess | null>>()
  const writings = new Map<ContentType, Map<WriteAction, WriteAccess | null>>()
  return Object.freeze({
    name,
    allows: (subject: string, action: Action) => ability().can(action, subject),
    readAccess: (type: ContentType, action: Action) =>
      keep(views, type, action, () => viewOf(ability(), type, action)),
    writeAccess: (type: ContentType, action: WriteAction) =>
      keep(writings, type, action, () => writingOf(rules(), type, action)),
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
  const { fields, conditions, set } = rule
  return Object.freeze({
    fields: fields === undefined ? null : new Set([fields].flat()),
    where: conditions ?? null,
    set: set ?? {},
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

/** One permission as a CASL rule. No `fields`: every field. No `conditions`: every row. */
export type AbilityRule = RawRule<[string, string], Condition> & {
  /** Values that the server writes instead of those of the body. */
  readonly set?: PermissionTerms['set']
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
