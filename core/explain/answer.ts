import { type Action, CONTENT_ACTIONS, missingFeature, subjectOf } from '../access/actions.ts'
import type { Caller } from '../access/caller.ts'
import type { Access } from '../access/compile/compile-access.ts'
import type { UserValues } from '../access/compile/condition.ts'
import {
  type Explanation,
  type PermissionHolder,
  type PermissionSubject,
  withoutUser,
} from '../access/explain/explain.ts'
import {
  explainField,
  explainPath,
  type FieldExplanation,
  type FieldStep,
  hasFields,
  type PathExplanation,
} from '../access/explain/explain-field.ts'
import { printUserPath, userPathsIn } from '../access/user-path.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Attribute, ContentType, Holder, ZoneAttribute } from '../model/model.ts'
import { type ConditionSql, toConditionSql, userValueAt } from './condition-sql.ts'
import { type RolesProject, unknownName } from './roles-project.ts'
import { openingFor, type RouteOverride } from './route-overrides.ts'

/** The words of the command line. */
export interface QuestionWords {
  readonly action: string
  readonly type: string
  readonly field: string | undefined
}

/** The question, with all words resolved. */
export interface RolesQuestion {
  readonly subject: PermissionSubject
  readonly action: Action
  readonly field: AskedField | null
}

/** An attribute with its path: `author.email`. */
interface AskedField {
  readonly name: string
  readonly steps: readonly FieldStep[]
}

/** The parts of a user that permissions need. */
export interface ExplainedUser {
  /** The role whose permissions apply to the user's requests. */
  readonly role: string
  /** The values of `$user`. */
  readonly values: UserValues
  /** Blocked, or not confirmed although required: every request of the user is refused. */
  readonly barred: boolean
}

/** The role or token whose permissions are explained, and the user if the question names one. */
export interface Principal {
  readonly holder: PermissionHolder
  readonly user: (ExplainedUser & { readonly name: string }) | null
}

export interface RolesAnswer {
  readonly asker: Principal
  readonly allowed: boolean
  readonly explanation: Explanation
  /** The explanation of the requested attribute. */
  readonly field: (PathExplanation & { readonly name: string }) | null
  /** The explanations of all attributes, if none was requested. */
  readonly fields: readonly FieldExplanation[]
  readonly sql: ConditionSql | null
  /** For drafts: the read actions that show them, each with its own condition. */
  readonly reads: readonly Explanation[]
  /** The configuration of the REST route. */
  readonly route: RouteOverride | null
  /** The values of each `$user.…` in the permission, null for no value; empty if the question names no user. */
  readonly values: Readonly<Record<string, unknown>>
}

/** Resolves the words. Fails with a sentence for each unknown word. */
export function toQuestion(words: QuestionWords, { explainer }: RolesProject): Result<RolesQuestion, string> {
  const subject = explainer.subjects.find(({ name }) => name === words.type)
  if (!subject) {
    const names = explainer.subjects.map(({ name }) => name)
    return failed(unknownName('type', words.type, names))
  }
  const action = subject.actions.find(each => each === words.action)
  if (!action) return failed(noAction(words.action, subject))
  if (words.field === undefined) return ok({ subject, action, field: null })
  return withField(words.field, action, subject)
}

function noAction(word: string, { name, type, actions }: PermissionSubject): string {
  const isContent = CONTENT_ACTIONS.some(each => each === word)
  const lack = type && !type.builtIn && isContent ? missingFeature(word, type) : null
  if (lack) return `\`${word}\` means nothing for \`${name}\`, which has no \`${lack}\``
  return unknownName(`action of \`${name}\``, word, actions)
}

function withField(name: string, action: Action, subject: PermissionSubject): Result<RolesQuestion, string> {
  const { type } = subject
  if (!type || !hasFields(action))
    return failed(`\`${action}\` of \`${subject.name}\` has no fields to be asked for`)
  if (name.split('.').includes(''))
    return failed(
      `\`${name}\` has an empty name: a field is one attribute, or a path such as \`author.name\``,
    )
  const steps = toSteps(name, type)
  return steps.ok ? ok({ subject, action, field: { name, steps: steps.value } }) : steps
}

const READS = ['find', 'findOne'] as const

export function toAnswer(
  { subject, action, field: asked }: RolesQuestion,
  asker: Principal,
  roles: RolesProject,
): RolesAnswer {
  const { explainer } = roles
  const explained = explainer.explain(asker.holder, subject, action)
  const explanation = callerOf(asker, roles.access).kind === 'user' ? explained : withoutUser(explained)
  const findOf = (type: ContentType): Explanation => {
    const target = explainer.subjects.find(each => each.type === type)
    if (!target) throw new TypeError(`no subject for ${type.uid}`)
    return explainer.explain(asker.holder, target, 'find')
  }
  const field = asked && { ...explainPath(explanation, asked.steps, findOf), name: asked.name }
  const all = asked || !hasFields(action) ? [] : [...(subject.type?.attributes.values() ?? [])]
  return {
    asker,
    allowed: explanation.allowed && field?.allowed !== false && asker.user?.barred !== true,
    explanation,
    field,
    fields: all.map(each => explainField(explanation, each, findOf)),
    sql: toConditionSql(explanation, asker.user?.values ?? null, roles),
    reads: action === 'readDrafts' ? READS.map(read => explainer.explain(asker.holder, subject, read)) : [],
    route: openingFor(subject.name, action, roles.project),
    values: asker.user ? valuesOf(explanation, asker.user.values) : {},
  }
}

function valuesOf({ options }: Explanation, user: UserValues): Readonly<Record<string, unknown>> {
  const valuesIn = (term: unknown, isNone: (value: unknown) => boolean) =>
    [...userPathsIn(term)].map(path => {
      const value = userValueAt(user, path)
      return [printUserPath(path), isNone(value) ? null : value] as const
    })
  const set = valuesIn(options.set, value => value === undefined)
  // In a condition an empty text counts as no value.
  const where = valuesIn(options.where, value => value === undefined || value === '')
  return Object.fromEntries([...set, ...where])
}

/**
 * Resolves a path such as `author.email`, `links.url` or `body.blocks.quote.text`: through relations, media and
 * components (by name in dynamic zones). Fails with the unknown word and the nearest valid one.
 */
const toSteps = (field: string, type: ContentType): Result<readonly FieldStep[], string> =>
  walk(field.split('.'), type, [])

function walk(
  [word = '', ...rest]: readonly string[],
  holder: Holder,
  before: readonly string[],
): Result<readonly FieldStep[], string> {
  const attribute = holder.attributes.get(word)
  if (!attribute)
    return failed(unknownName(`field of \`${nameOf(holder)}\``, word, [...holder.attributes.keys()]))
  const path = [...before, word]
  const step: FieldStep = { path: path.join('.'), attribute }
  if (rest.length === 0) return ok([step])
  const behind = lookBehind(attribute, rest, holder)
  if (!behind.ok) return behind
  const { taken, end } = behind.value
  if (rest.length === taken) return ok([step])
  const further = walk(rest.slice(taken), end, [...path, ...rest.slice(0, taken)])
  return further.ok ? ok([step, ...further.value]) : further
}

const nameOf = (holder: Holder): string => (holder.holder === 'content-type' ? subjectOf(holder) : holder.uid)

/** The type that an attribute leads to, and how many words of the path it consumes. */
function lookBehind(
  attribute: Attribute,
  words: readonly string[],
  holder: Holder,
): Result<{ readonly end: Holder; readonly taken: number }, string> {
  switch (attribute.kind) {
    case 'scalar':
      return failed(
        `\`${attribute.name}\` of \`${nameOf(holder)}\` is one value (${attribute.type}), which has no fields`,
      )
    case 'morph':
      return failed(`\`${attribute.name}\` of \`${nameOf(holder)}\` may be of any type`)
    case 'component':
      return ok({ end: attribute.component, taken: 0 })
    case 'zone':
      return lookInZone(attribute, words)
    default:
      return ok({ end: attribute.target, taken: 0 })
  }
}

function lookInZone({ name, components }: ZoneAttribute, words: readonly string[]) {
  const input = `${words.join('.')}.`
  const component = components.find(({ uid }) => input.startsWith(`${uid}.`))
  if (component) return ok({ end: component, taken: component.uid.split('.').length })
  const uids = components.map(({ uid }) => uid)
  return failed(unknownName(`component of \`${name}\``, words.slice(0, 2).join('.'), uids))
}

/** Signed in, without a value that a document could have. */
const UNKNOWN_USER = { id: 0, documentId: '' }

/** The caller that the server would identify. A role without a user acts as a user without values. */
export function callerOf({ holder, user }: Principal, { publicCaller, roles, tokens }: Access): Caller {
  if (holder.kind === 'token') {
    const grants = tokens.get(holder.key)
    if (grants) return { kind: 'token', grants, user: null }
  }
  const grants = roles.get(holder.key)
  if (!grants || (!user && holder.key === publicCaller.grants.name)) return publicCaller
  return { kind: 'user', grants, user: user?.values ?? UNKNOWN_USER }
}
