import { failed, ok, type Result } from '../../base/result.ts'
import type { Diagnostic } from '../../faults/diagnostic.ts'
import type { Model } from '../../model/model.ts'
import type { Project } from '../../project/project.ts'
import type { Settings } from '../../project/settings/settings.ts'
import type { Caller, Grants } from '../caller.ts'
import { type Finding, toDiagnostic } from '../finding.ts'
import { toGrants } from '../grants.ts'
import { type Holders, PUBLIC, resolveHolders } from '../holders.ts'
import type { Cells } from '../permission-entries.ts'
import { userPathsIn } from '../user-path.ts'
import { checkPermissions, type Holding } from './check-permissions.ts'
import { toRules } from './to-rules.ts'

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
  const holders = resolveHolders(settings)
  const wrong = holdings(settings).flatMap(holding => [...checkPermissions(holding, model)])
  const findings: readonly Finding[] = [...holders.findings, ...wrong]
  if (findings.length > 0) return failed(...findings.map(finding => toDiagnostic(finding, project)))
  return ok(toAccess(settings, holders, model))
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

function toAccess(settings: Settings, holders: Holders, model: Model): Access {
  const grants = (name: string, cells: Cells): Grants => toGrants(name, () => toRules(cells, model))
  const roles = new Map([...holders.roles].map(([key, cells]) => [key, grants(key, cells)]))
  const tokens = new Map([...holders.tokens].map(([key, cells]) => [key, grants(key, cells)]))
  const nobody = roles.get(PUBLIC) ?? grants(PUBLIC, new Map())
  return Object.freeze({
    nobody: Object.freeze({ kind: 'public', grants: nobody, user: null }),
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
