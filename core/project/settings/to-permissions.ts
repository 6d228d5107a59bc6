import type { Role, SubjectPermissions, Permissions as WrittenPermissions } from '../project-types.ts'
import type { Permissions, PermissionTerms, RoleDeclaration } from './settings.ts'

/** The two roles that are always there, named and described as the reference does. */
const BUILT_IN_ROLES = ['public', 'authenticated'] as const

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ['public', 'Default role given to unauthenticated user.'],
  ['authenticated', 'Default role given to authenticated user.'],
])

export function toPermissions(written: WrittenPermissions = {}): Permissions {
  return Object.fromEntries(Object.entries(written).map(([subject, said]) => [subject, toActions(said)]))
}

function toActions(said: SubjectPermissions): Record<string, boolean | PermissionTerms> {
  if (said === '*') return { '*': true }
  if (Array.isArray(said)) return Object.fromEntries(said.map(action => [action, true]))
  return said as Record<string, boolean | PermissionTerms>
}

/** Every role of the file, and the built-in ones where the file leaves them out. */
export function toRoles(written: Readonly<Record<string, Role>> = {}): Record<string, RoleDeclaration> {
  const missing = BUILT_IN_ROLES.filter(key => !Object.hasOwn(written, key))
  const all: [string, Role][] = [
    ...missing.map((key): [string, Role] => [key, {}]),
    ...Object.entries(written),
  ]
  return Object.fromEntries(all.map(([key, role]) => [key, toRole(key, role)]))
}

function toRole(
  key: string,
  { name, description, extends: parents = [], permissions }: Role,
): RoleDeclaration {
  return {
    name: name ?? key.slice(0, 1).toUpperCase() + key.slice(1),
    description: description ?? DESCRIPTIONS.get(key) ?? '',
    extends: typeof parents === 'string' ? [parents] : parents,
    permissions: toPermissions(permissions),
  }
}
