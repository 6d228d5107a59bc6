import { type Action, CONTENT_ACTIONS, missingFeature, subjectOf } from '../../../core/access/actions.ts'
import type { UserValues } from '../../../core/access/compile/condition.ts'
import type {
  Explanation,
  PermissionHolder,
  PermissionSubject,
} from '../../../core/access/explain/explain.ts'
import {
  explainField,
  explainPath,
  type FieldExplanation,
  type FieldStep,
  hasFields,
  type PathExplanation,
} from '../../../core/access/explain/explain-field.ts'
import { userPathsIn } from '../../../core/access/user-path.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import type { Attribute, ContentType, Holder, ZoneAttribute } from '../../../core/model/model.ts'
import { type RolesProject, unknownName } from './roles-project.ts'
import { type Opening, openingFor } from './roles-routes.ts'
import { type ConditionSql, toConditionSql, valueAt } from './roles-sql.ts'
import type { AskingUser } from './roles-user.ts'

/** Words as they were typed. */
export interface Words {
  readonly action: string
  readonly type: string
  readonly field: string | undefined
}

/** What was asked, every word of it known. */
export interface Question {
  readonly subject: PermissionSubject
  readonly action: Action
  readonly field: AskedField | null
}

/** An attribute by the way to it: `author.email`. */
interface AskedField {
  readonly name: string
  readonly steps: readonly FieldStep[]
}

/** Whose permissions they are: a role or token, and the user who was asked for where one was. */
export interface Asker {
  readonly holder: PermissionHolder
  readonly user: (AskingUser & { readonly name: string }) | null
}

export interface Answer {
  readonly asker: Asker
  readonly allowed: boolean
  readonly explanation: Explanation
  /** Of the attribute that was asked for, by that name. */
  readonly field: (PathExplanation & { readonly name: string }) | null
  /** Of every attribute, where none was asked for. */
  readonly fields: readonly FieldExplanation[]
  readonly sql: ConditionSql | null
  /** Of drafts: the reads that show them, each within its own condition. */
  readonly reads: readonly Explanation[]
  /** What the REST route says of its own. */
  readonly route: Opening | null
  /** What each `$user.…` of the permission stands for, null where it has no value; empty where no user was asked for. */
  readonly values: Readonly<Record<string, unknown>>
}

/** Looks the words up; or says what is unknown about each. */
export function toQuestion(words: Words, { explainer }: RolesProject): Result<Question, string> {
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

function withField(name: string, action: Action, subject: PermissionSubject): Result<Question, string> {
  const { type } = subject
  if (!type || !hasFields(action))
    return failed(`\`${action}\` of \`${subject.name}\` has no fields to be asked for`)
  const steps = toSteps(name, type)
  return steps.ok ? ok({ subject, action, field: { name, steps: steps.value } }) : steps
}

const READS = ['find', 'findOne'] as const

export function toAnswer(
  { subject, action, field: asked }: Question,
  asker: Asker,
  roles: RolesProject,
): Answer {
  const { explainer } = roles
  const explanation = explainer.explain(asker.holder, subject, action)
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

function valuesOf({ terms }: Explanation, user: UserValues): Readonly<Record<string, unknown>> {
  const valuesIn = (term: unknown, isNone: (value: unknown) => boolean) =>
    [...userPathsIn(term)].map(path => {
      const value = valueAt(user, path)
      return [['$user', ...path].join('.'), isNone(value) ? null : value] as const
    })
  const set = valuesIn(terms.set, value => value === undefined)
  // In a condition an empty text is none.
  const where = valuesIn(terms.where, value => value === undefined || value === '')
  return Object.fromEntries([...set, ...where])
}

/**
 * The way that `author.email`, `links.url` or `body.blocks.quote.text` stands for: over relations and media, into
 * components, in dynamic zones by their names. Else which word is unknown, with the nearest that is not.
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

/** What lies behind an attribute, and how many of the words it takes to say so. */
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
    case 'component':
      return ok({ end: attribute.component, taken: 0 })
    case 'zone':
      return lookInZone(attribute, words)
    default:
      return ok({ end: attribute.target, taken: 0 })
  }
}

function lookInZone({ name, components }: ZoneAttribute, words: readonly string[]) {
  const given = `${words.join('.')}.`
  const component = components.find(({ uid }) => given.startsWith(`${uid}.`))
  if (component) return ok({ end: component, taken: component.uid.split('.').length })
  const uids = components.map(({ uid }) => uid)
  return failed(unknownName(`component of \`${name}\``, words.slice(0, 2).join('.'), uids))
}
