import { didYouMean, hintFor } from '../../base/nearest.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import type { Diagnostic, Path } from '../../faults/diagnostic.ts'
import { compileStorage } from '../../model/compile-storage.ts'
import type { ContentType, Model } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import type { Project } from '../../project/project.ts'
import type { PermissionOptions, Settings } from '../../project/settings/settings.ts'
import {
  BUILT_IN_ACTIONS,
  isBuiltInSubject,
  isReadAction,
  missingFeature,
  permissionPartsOf,
  typesBySubject,
} from '../actions.ts'
import type { Caller, Grants } from '../caller.ts'
import { type DeclaredPermissions, declaredPermissions } from '../declared-permissions.ts'
import { type Holders, PUBLIC, resolveHolders } from '../holders.ts'
import {
  type AccessFinding,
  actionNames,
  type PermissionTable,
  subjectNames,
  toDiagnostic,
  toPermissionTable,
  WILDCARD,
} from '../permission-entries.ts'
import { readableAttributes } from '../readable-attributes.ts'
import { CLAIMS, resolveUserPath, userPathsIn, userReferencesIn } from '../user-path.ts'
import { compileCondition } from './compile-condition.ts'
import { expectedLists } from './expected-lists.ts'
import { searchSets } from './search-sets.ts'
import { toGrants, toRules } from './to-rules.ts'

/** The permissions of every role and API token of a project. Frozen; abilities are built on first use. */
export interface Access {
  /** The caller of a request without credentials. */
  readonly publicCaller: Caller
  /** By key. */
  readonly roles: ReadonlyMap<string, Grants>
  /** By key. */
  readonly tokens: ReadonlyMap<string, Grants>
  /** Paths of the `$user` values that conditions and `set` use: `['role', 'type']` for `$user.role.type`. Users are read with these. */
  readonly userPaths: readonly (readonly string[])[]
}

/** Compiles roles and tokens against the model; fails with all their diagnostics. */
export function compileAccess(project: Project, model: Model): Result<Access, Diagnostic> {
  const { settings } = project
  const holders = resolveHolders(settings)
  const declared = declaredPermissions(settings)
  const findings: readonly AccessFinding[] = [
    ...holders.findings,
    ...declared.flatMap(each => [...checkPermissions(each, model)]),
  ]
  if (findings.length > 0) return failed(...findings.map(finding => toDiagnostic(finding, project)))
  return ok(toAccess(settings, holders, model))
}

function toAccess(settings: Settings, holders: Holders, model: Model): Access {
  const grants = (name: string, entries: PermissionTable): Grants =>
    toGrants(name, () => toRules(entries, model))
  const roles = new Map([...holders.roles].map(([key, entries]) => [key, grants(key, entries)]))
  const tokens = new Map([...holders.tokens].map(([key, entries]) => [key, grants(key, entries)]))
  const publicGrants = roles.get(PUBLIC) ?? grants(PUBLIC, new Map())
  return Object.freeze({
    publicCaller: Object.freeze({ kind: 'public', grants: publicGrants, user: null }),
    roles,
    tokens,
    userPaths: userPathsOf(settings),
  })
}

function userPathsOf({ roles }: Settings): Access['userPaths'] {
  const paths = Object.values(roles)
    .flatMap(({ permissions }) => [...userPathsIn(permissions)])
    .filter(([name]) => name !== CLAIMS)
  const byName = new Map(paths.map(path => [path.join('.'), path]))
  return Object.freeze([...byName.values()])
}

/** The permissions of a full-access token: every action on every subject. */
export function fullAccessGrants(model: Model): Grants {
  const subjects = [WILDCARD, ...Object.keys(BUILT_IN_ACTIONS)]
  const permissions = Object.fromEntries(subjects.map(subject => [subject, { [WILDCARD]: true }]))
  return toGrants('everything', () => toRules(toPermissionTable(permissions, []), model))
}

/** Compiles the project's storage. The conditions of permissions decide which lists get an index, and readable attributes which vectors a search has. */
export const projectStorage = ({ settings }: Project, model: Model): Storage =>
  compileStorage(
    model,
    settings.database.indexes === 'derived' ? expectedLists(settings, model) : null,
    searchSets(settings, model),
  )

/** Like projectStorage, for a project whose permissions are not checked yet. */
export function checkedProjectStorage(project: Project, model: Model): Result<Storage, Diagnostic> {
  const access = compileAccess(project, model)
  return access.ok ? ok(projectStorage(project, model)) : access
}

function* checkPermissions(declared: DeclaredPermissions, model: Model): Generator<AccessFinding> {
  const subjects = subjectNames(model)
  const types = typesBySubject(model)
  for (const [subject, actions] of Object.entries(declared.permissions)) {
    const path = [...declared.path, subject]
    if (!subjects.includes(subject)) {
      const message = `unknown subject \`${subject}\`${hintFor(subject, subjects)}`
      yield { code: 'unknown-subject', message, path, atKey: true }
      continue
    }
    for (const [action, options] of Object.entries(actions)) {
      const place = { subject, action, type: types.get(subject) ?? null, path: [...path, action] }
      yield* checkAction(place)
      if (typeof options === 'object') yield* checkOptions(options, place, model)
    }
  }
}

/** One action of a permission, with its path in the project file. */
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
  const missing = type && !isBuiltInSubject(subject) ? missingFeature(action, type) : null
  if (missing) {
    const message = `\`${action}\` means nothing for \`${subject}\`, which has no \`${missing}\``
    yield { code: 'action-not-applicable', message, path, atKey: true }
  }
}

function* checkOptions(
  options: PermissionOptions,
  place: PermissionPlace,
  model: Model,
): Generator<AccessFinding> {
  const misplaced = [...checkApplicable(options, place)]
  yield* misplaced
  if (misplaced.length > 0 || !place.type) return
  yield* checkFields(options, place, place.type)
  const personal = [...checkUser(options, place, model)]
  yield* personal
  if (options.where && personal.length === 0) yield* checkWhere(options.where, place, place.type, model)
}

/** Reports `where`, `fields` and `set` that the action does not have. */
function* checkApplicable(
  options: PermissionOptions,
  { subject, action, type, path }: PermissionPlace,
): Generator<AccessFinding> {
  const allowed = permissionPartsOf(action === WILDCARD ? 'find' : action)
  for (const term of ['where', 'fields', 'set'] as const) {
    if (options[term] === undefined || (type && allowed[term])) continue
    const message =
      subject === WILDCARD
        ? `\`${term}\` needs one content-type: name it instead of \`"*"\``
        : `\`${term}\` means nothing for \`${action}\` of \`${subject}\``
    yield { code: 'misplaced-key', message, path: [...path, term], atKey: true }
  }
}

function* checkFields(
  options: PermissionOptions,
  { subject, action, path }: PermissionPlace,
  type: ContentType,
): Generator<AccessFinding> {
  for (const [index, written] of (options.fields ?? []).entries()) {
    const name = written.replace(/^!/, '')
    const attribute = type.attributes.get(name)
    const at = [...path, 'fields', index]
    if (!attribute) {
      const message = `unknown field \`${name}\` of \`${subject}\`${didYouMean(name, type.attributes.keys())}`
      yield { code: 'unknown-field', message, path: at }
    } else if (name === written && isReadAction(action) && !readableAttributes(type).has(attribute)) {
      const kind = attribute.private ? '`private`' : 'a password'
      yield {
        code: 'misplaced-key',
        message: `\`${name}\` of \`${subject}\` is ${kind}: no permission can show it`,
        path: at,
      }
    }
  }
  yield* checkSet(Object.keys(options.set ?? {}), { subject, path }, type)
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
      yield { code: 'misplaced-key', message, path: [...path, 'set', name], atKey: true }
      continue
    }
    const message = `\`${subject}\` has no field \`${name}\` to be set${hintFor(name, settable)}`
    yield { code: 'unknown-field', message, path: [...path, 'set', name], atKey: true }
  }
}

/** Reports references to the caller (`$user.…`) that do not lead to one value. */
function* checkUser(
  options: PermissionOptions,
  { path }: PermissionPlace,
  model: Model,
): Generator<AccessFinding> {
  for (const term of ['where', 'set'] as const) {
    for (const { steps, place } of userReferencesIn(options[term])) {
      const found = resolveUserPath(steps, model.builtIn.user)
      if (typeof found === 'string') {
        yield { code: 'unknown-user-path', message: found, path: [...path, term, ...place] }
      }
    }
  }
}

function* checkWhere(
  where: NonNullable<PermissionOptions['where']>,
  { path }: PermissionPlace,
  type: ContentType,
  model: Model,
): Generator<AccessFinding> {
  const compiled = compileCondition(where, type, model)
  if (compiled.ok) return
  for (const { message, path: below, isValue } of compiled.reasons) {
    const atKey = below.length > 0 && !isValue
    yield { code: 'bad-condition', message, path: [...path, 'where', ...below], atKey }
  }
}
