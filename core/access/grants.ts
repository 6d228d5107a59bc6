import { Ability, type RawRule } from '@casl/ability'
import { once } from '../base/memo.ts'
import type { Attribute, ContentType } from '../model/model.ts'
import type { PermissionTerms } from '../project/settings/settings.ts'
import { type Action, isReadAction, subjectOf } from './actions.ts'
import type { Grants, ReadAccess, WriteAccess, WriteAction } from './caller.ts'
import type { Condition } from './compile/condition.ts'
import { readableAttributes } from './restrict/visible.ts'

/** Questions to one ability. Each view is made when first asked for and kept: a project may have hundreds of types. */
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

/** There is one rule at most for each action of each subject (to-rules.ts). */
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

/** Who wrote a document sees it, whatever else he sees, in the fields that he may read or else has written. */
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

/** A permission never opens what is private. */
function readableOf(fields: readonly string[] | undefined, type: ContentType): ReadonlySet<Attribute> {
  const visible = readableAttributes(type)
  return fields ? new Set([...visible].filter(({ name }) => fields.includes(name))) : visible
}

/** One permission as CASL has it: no fields is every field, no condition every row. */
export type AbilityRule = RawRule<[string, string], Condition> & {
  /** What the server writes, whatever the body says. */
  readonly set?: PermissionTerms['set']
}

type AccessAbility = Ability<[string, string], Condition>

/**
 * The rules of one role or token. Questions are asked of subjects' names alone: whether a row meets a condition
 * is for the database to say, so that no row is ever judged here.
 */
const toCaslAbility = (rules: readonly AbilityRule[]): AccessAbility =>
  new Ability<[string, string], Condition>([...rules], {
    conditionsMatcher: () => () => false,
    fieldMatcher: fields => field => fields.includes(field),
  })
