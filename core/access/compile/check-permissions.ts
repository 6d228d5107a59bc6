import { didYouMean, hintFor } from '../../base/nearest.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type { ContentType, Model } from '../../model/model.ts'
import type { Permissions, PermissionTerms } from '../../project/settings/settings.ts'
import { isBuiltInSubject, missingFeature, permissionPartsOf, subjectOf } from '../actions.ts'
import type { AccessFinding } from '../finding.ts'
import { actionNames, subjectNames, WILDCARD } from '../permission-entries.ts'
import { resolveUserPath, userReferencesIn } from '../user-path.ts'
import { compileCondition } from './compile-condition.ts'

/** The permissions of one role or token, with their path in the project file. */
export interface DeclaredPermissions {
  readonly permissions: Permissions
  readonly path: Path
}

export function* checkPermissions(holding: DeclaredPermissions, model: Model): Generator<AccessFinding> {
  const subjects = subjectNames(model)
  const types = new Map([...model.contentTypes.values()].map(type => [subjectOf(type), type]))
  for (const [subject, actions] of Object.entries(holding.permissions)) {
    const path = [...holding.path, subject]
    if (!subjects.includes(subject)) {
      const message = `unknown subject \`${subject}\`${hintFor(subject, subjects)}`
      yield { code: 'unknown-subject', message, path, atKey: true }
      continue
    }
    for (const [action, said] of Object.entries(actions)) {
      const place = { subject, action, type: types.get(subject) ?? null, path: [...path, action] }
      yield* checkAction(place)
      if (typeof said === 'object') yield* checkTerms(said, place, model)
    }
  }
}

interface PermissionPlace {
  readonly subject: string
  readonly action: string
  /** null: the subject is `"*"` or has no documents. */
  readonly type: ContentType | null
  readonly path: Path
}

function* checkAction({ subject, action, type, path }: PermissionPlace): Generator<AccessFinding> {
  if (action === WILDCARD) return
  const known = actionNames(subject)
  if (!known.includes(action)) {
    const message = `unknown action \`${action}\` of \`${subject}\`${hintFor(action, known)}`
    yield { code: 'unknown-action', message, path, atKey: true }
    return
  }
  const lack = type && !isBuiltInSubject(subject) ? missingFeature(action, type) : null
  if (lack) {
    const message = `\`${action}\` means nothing for \`${subject}\`, which has no \`${lack}\``
    yield { code: 'action-not-applicable', message, path, atKey: true }
  }
}

function* checkTerms(terms: PermissionTerms, place: PermissionPlace, model: Model): Generator<AccessFinding> {
  const misplaced = [...checkApplicable(terms, place)]
  yield* misplaced
  if (misplaced.length > 0 || !place.type) return
  yield* checkFields(terms, place, place.type)
  const personal = [...checkUser(terms, place, model)]
  yield* personal
  if (terms.where && personal.length === 0) yield* checkWhere(terms.where, place, place.type, model)
}

function* checkApplicable(
  terms: PermissionTerms,
  { subject, action, type, path }: PermissionPlace,
): Generator<AccessFinding> {
  const taken = permissionPartsOf(action === WILDCARD ? 'find' : action)
  for (const term of ['where', 'fields', 'set'] as const) {
    if (terms[term] === undefined || (type && taken[term])) continue
    const message =
      subject === WILDCARD
        ? `\`${term}\` needs one content-type: name it instead of \`"*"\``
        : `\`${term}\` means nothing for \`${action}\` of \`${subject}\``
    yield { code: 'misplaced-terms', message, path: [...path, term], atKey: true }
  }
}

function* checkFields(
  terms: PermissionTerms,
  { subject, path }: PermissionPlace,
  type: ContentType,
): Generator<AccessFinding> {
  for (const [index, written] of (terms.fields ?? []).entries()) {
    const name = written.replace(/^!/, '')
    if (type.attributes.has(name)) continue
    const message = `unknown field \`${name}\` of \`${subject}\`${didYouMean(name, type.attributes.keys())}`
    yield { code: 'unknown-field', message, path: [...path, 'fields', index] }
  }
  yield* checkSet(Object.keys(terms.set ?? {}), { subject, path }, type)
}

function* checkSet(
  names: readonly string[],
  { subject, path }: Pick<PermissionPlace, 'subject' | 'path'>,
  type: ContentType,
): Generator<AccessFinding> {
  const settable = [...type.attributes.values()]
    .filter(({ system, writable }) => !system && writable)
    .map(({ name }) => name)
  for (const name of names) {
    if (settable.includes(name)) continue
    if (type.attributes.get(name)?.system === false) {
      const message = `\`${name}\` of \`${subject}\` is \`writable: false\`: no permission can set it`
      yield { code: 'misplaced-terms', message, path: [...path, 'set', name], atKey: true }
      continue
    }
    const message = `\`${subject}\` has no field \`${name}\` to be set${hintFor(name, settable)}`
    yield { code: 'unknown-field', message, path: [...path, 'set', name], atKey: true }
  }
}

function* checkUser(
  terms: PermissionTerms,
  { path }: PermissionPlace,
  model: Model,
): Generator<AccessFinding> {
  for (const term of ['where', 'set'] as const) {
    for (const { steps, place } of userReferencesIn(terms[term])) {
      const found = resolveUserPath(steps, model.builtIn.user)
      if (typeof found === 'string') {
        yield { code: 'unknown-user-path', message: found, path: [...path, term, ...place] }
      }
    }
  }
}

function* checkWhere(
  where: NonNullable<PermissionTerms['where']>,
  { path }: PermissionPlace,
  type: ContentType,
  model: Model,
): Generator<AccessFinding> {
  const compiled = compileCondition(where, type, model)
  if (compiled.ok) return
  for (const { message, path: below } of compiled.reasons) {
    yield { code: 'bad-condition', message, path: [...path, 'where', ...below], atKey: below.length > 0 }
  }
}
