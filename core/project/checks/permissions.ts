import type { Path } from '../../faults/diagnostic.ts'
import type { ProjectFinding } from '../faults.ts'
import type { Json, Permissions, PermissionTerms, Settings } from '../settings/settings.ts'

/** `fields` lists either included fields or, with `!`, excluded ones. */
export function* permissionFields(settings: Settings): Generator<ProjectFinding> {
  for (const { terms, path } of conditionalPermissions(settings)) {
    const fields = terms.fields ?? []
    const odd = fields.findIndex(field => isExcluding(field) !== isExcluding(fields[0]))
    if (odd > 0) yield mixed([...path, 'fields'], odd)
  }
}

const isExcluding = (field: string | undefined): boolean => field?.startsWith('!') ?? false

const mixed = (path: Path, odd: number): ProjectFinding => ({
  code: 'conflict',
  message: '`fields` holds names, or names with `!`, not both',
  path: [...path, odd],
})

/** Permissions of a token must not use `$user`, because a token has no user. */
export function* tokenCallers(settings: Settings): Generator<ProjectFinding> {
  for (const { terms, path } of conditionalPermissions(settings)) {
    if (path[0] !== 'apiTokens') continue
    for (const at of [
      ...callersIn(terms.where ?? null, [...path, 'where']),
      ...callersIn(terms.set ?? null, [...path, 'set']),
    ]) {
      yield { code: 'conflict', message: '`$user` is the signed-in user, and a token has none', path: at }
    }
  }
}

function callersIn(value: Json, path: Path): readonly Path[] {
  if (typeof value === 'string') return /^\$user(\.|$)/.test(value) ? [path] : []
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, child]) =>
    callersIn(child, [...path, Array.isArray(value) ? Number(key) : key]),
  )
}

interface PartialPermission {
  readonly terms: PermissionTerms
  readonly path: Path
}

/** All permissions of roles and tokens that have `where`, `fields` or `set`. */
function* conditionalPermissions(settings: Settings): Generator<PartialPermission> {
  for (const section of ['roles', 'apiTokens'] as const) {
    for (const [key, holder] of Object.entries(settings[section])) {
      if ('permissions' in holder) yield* termsIn(holder.permissions, [section, key, 'permissions'])
    }
  }
}

function* termsIn(permissions: Permissions, path: Path): Generator<PartialPermission> {
  for (const [subject, actions] of Object.entries(permissions)) {
    for (const [action, said] of Object.entries(actions)) {
      if (typeof said === 'object') yield { terms: said, path: [...path, subject, action] }
    }
  }
}
