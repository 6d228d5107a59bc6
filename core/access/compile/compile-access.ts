import { failed, ok, type Result } from '../../base/result.ts'
import type { Diagnostic } from '../../faults/diagnostic.ts'
import { compileStorage } from '../../model/compile-storage.ts'
import type { Model } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import type { Project } from '../../project/project.ts'
import type { Settings } from '../../project/settings/settings.ts'
import { BUILT_IN_ACTIONS } from '../actions.ts'
import type { Caller, Grants } from '../caller.ts'
import { type AccessFinding, toDiagnostic } from '../finding.ts'
import { toGrants } from '../grants.ts'
import { type Holders, PUBLIC, resolveHolders } from '../holders.ts'
import { type PermissionTable, toPermissionTable, WILDCARD } from '../permission-entries.ts'
import { userPathsIn } from '../user-path.ts'
import { checkPermissions, type DeclaredPermissions } from './check-permissions.ts'
import { expectedLists } from './expected-lists.ts'
import { toRules } from './to-rules.ts'

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
  const wrong = declaredPermissions(settings).flatMap(holding => [...checkPermissions(holding, model)])
  const findings: readonly AccessFinding[] = [...holders.findings, ...wrong]
  if (findings.length > 0) return failed(...findings.map(finding => toDiagnostic(finding, project)))
  return ok(toAccess(settings, holders, model))
}

const declaredPermissions = ({ roles, apiTokens }: Settings): readonly DeclaredPermissions[] => [
  ...Object.entries(roles).map(
    ([key, { permissions }]): DeclaredPermissions => ({ permissions, path: ['roles', key, 'permissions'] }),
  ),
  ...Object.entries(apiTokens).flatMap(([key, token]): readonly DeclaredPermissions[] =>
    token.type === 'custom'
      ? [{ permissions: token.permissions, path: ['apiTokens', key, 'permissions'] }]
      : [],
  ),
]

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
  const paths = Object.values(roles).flatMap(({ permissions }) => [...userPathsIn(permissions)])
  const byName = new Map(paths.map(path => [path.join('.'), path]))
  return Object.freeze([...byName.values()])
}

/** The permissions of a full-access token: every action on every subject. */
export function fullAccessGrants(model: Model): Grants {
  const subjects = [WILDCARD, ...Object.keys(BUILT_IN_ACTIONS)]
  const permissions = Object.fromEntries(subjects.map(subject => [subject, { [WILDCARD]: true }]))
  return toGrants('everything', () => toRules(toPermissionTable(permissions, []), model))
}

/** Compiles the project's storage. The conditions of permissions decide which lists get an index. */
export const projectStorage = ({ settings }: Project, model: Model): Storage =>
  compileStorage(model, settings.database.indexes === 'derived' ? expectedLists(settings, model) : null)

/** As projectStorage, for a project whose permissions are not checked yet. */
export function checkedProjectStorage(project: Project, model: Model): Result<Storage, Diagnostic> {
  const access = compileAccess(project, model)
  return access.ok ? ok(projectStorage(project, model)) : access
}
