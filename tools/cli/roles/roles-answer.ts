import { type Action, CONTENT_ACTIONS, missingFeature } from '../../../core/access/actions.ts'
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
import type { ContentType } from '../../../core/model/model.ts'
import { toSteps } from './roles-field.ts'
import { unknownName } from './roles-names.ts'
import type { RolesProject } from './roles-project.ts'
import { type Opening, openingFor } from './roles-routes.ts'
import { valueAt } from './roles-samples.ts'
import { type ConditionSql, toConditionSql } from './roles-sql.ts'
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
