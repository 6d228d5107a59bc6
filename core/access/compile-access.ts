import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import type { Model } from '../model/model.ts'
import type { Project } from '../project/project.ts'
import type { ApiTokenDeclaration, Permissions, Settings } from '../project/settings.ts'
import { BUILT_IN_ACTIONS } from './actions.ts'
import type { Caller, Grants } from './caller.ts'
import { type Cells, EVERY, overlay, toCells } from './cells.ts'
import { checkPermissions, type Holding } from './check-permissions.ts'
import { type Finding, toDiagnostic } from './finding.ts'
import { toGrants } from './grants.ts'
import { inheritRoles } from './inherit.ts'
import { toRules } from './to-rules.ts'
import { userPathsIn } from './user-path.ts'

/** What every role and every API token of a project may do. Frozen; abilities are built when first asked for. */
export interface Access {
  /** A request without credentials. */
  readonly nobody: Caller
  /** By key. */
  readonly roles: ReadonlyMap<string, Grants>
  /** By key. */
  readonly tokens: ReadonlyMap<string, Grants>
  /** What conditions and set values ask of a user, `['role', 'type']` for `$user.role.type`: his values are read with these. */
  readonly userPaths: readonly (readonly string[])[]
}

/** Roles and tokens, checked against the model; or everything that is wrong with them. */
export function compileAccess(project: Project, model: Model): Result<Access, Diagnostic> {
  const { settings } = project
  const inherited = inheritRoles(settings.roles)
  const wrong = holdings(settings).flatMap(holding => [...checkPermissions(holding, model)])
  const findings: readonly Finding[] = [...inherited.findings, ...wrong]
  if (findings.length > 0) return failed(...findings.map(finding => toDiagnostic(finding, project)))
  return ok(toAccess(settings, inherited.roles, model))
}

const holdings = ({ roles, apiTokens }: Settings): readonly Holding[] => [
  ...Object.entries(roles).map(
    ([key, { permissions }]): Holding => ({ permissions, path: ['roles', key, 'permissions'] }),
  ),
  ...Object.entries(apiTokens).map(
    ([key, { permissions }]): Holding => ({
      permissions,
      path: ['apiTokens', key, 'permissions'],
    }),
  ),
]

const PUBLIC = 'public'

function toAccess(settings: Settings, inherited: ReadonlyMap<string, Cells>, model: Model): Access {
  const open = openToAll(inherited.get(PUBLIC))
  const grants = (name: string, cells: Cells): Grants =>
    toGrants(name, () => toRules(overlay(open, cells), model))
  const roles = new Map([...inherited].map(([key, cells]) => [key, grants(key, cells)]))
  const tokens = new Map(
    Object.entries(settings.apiTokens).map(([key, token]) => [key, grants(key, tokenCells(key, token))]),
  )
  const nobody = roles.get(PUBLIC) ?? grants(PUBLIC, new Map())
  return Object.freeze({
    nobody: Object.freeze({ kind: 'public', grants: nobody, user: null }),
    roles,
    tokens,
    userPaths: userPathsOf(settings),
  })
}

/** Signing in and the like is for everybody, unless `public` says who may (project-file, "Permissions"). */
function openToAll(nobody: Cells | undefined): Cells {
  if (nobody?.has('auth')) return new Map()
  return toCells({ auth: { [EVERY]: true, changePassword: false } }, [])
}

const everySubject = (actions: Permissions[string]): Permissions =>
  Object.fromEntries([EVERY, ...Object.keys(BUILT_IN_ACTIONS)].map(subject => [subject, actions]))

function tokenCells(key: string, { type, permissions }: ApiTokenDeclaration): Cells {
  const path = ['apiTokens', key, 'permissions']
  switch (type) {
    case 'full-access':
      return toCells(everySubject({ [EVERY]: true }), path)
    case 'read-only':
      return toCells(everySubject({ find: true, findOne: true }), path)
    case 'custom':
      return toCells(permissions, path)
  }
}

function userPathsOf({ roles }: Settings): Access['userPaths'] {
  const paths = Object.values(roles).flatMap(({ permissions }) => [...userPathsIn(permissions)])
  const byName = new Map(paths.map(path => [path.join('.'), path]))
  return Object.freeze([...byName.values()])
}
