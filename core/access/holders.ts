import { isDeepStrictEqual } from 'node:util'
import { walkGraph } from '../base/walk-graph.ts'
import type {
  ApiTokenDeclaration,
  Permissions,
  RoleDeclaration,
  Settings,
} from '../project/settings/settings.ts'
import { BUILT_IN_ACTIONS, isBuiltInSubject } from './actions.ts'
import type { AccessFinding } from './finding.ts'
import {
  entryOf,
  overridePermissions,
  type PermissionEntry,
  type PermissionTable,
  toPermissionTable,
  WILDCARD,
} from './permission-entries.ts'

/** What every role and every API token says, with what it inherits and what is open to all. */
export interface Holders {
  /** By key; `public` is among them. */
  readonly roles: ReadonlyMap<string, PermissionTable>
  /** By key. */
  readonly tokens: ReadonlyMap<string, PermissionTable>
  /** What is wrong with inheritance. */
  readonly findings: readonly AccessFinding[]
}

export const PUBLIC = 'public'

export function resolveHolders({ roles, apiTokens }: Settings): Holders {
  const inherited = inheritRoles(roles)
  const open = publicAuthEntries(inherited.roles.get(PUBLIC))
  return {
    roles: new Map([...inherited.roles].map(([key, cells]) => [key, overridePermissions(open, cells)])),
    tokens: new Map(
      Object.entries(apiTokens).map(([key, token]) => [
        key,
        overridePermissions(open, tokenEntries(key, token)),
      ]),
    ),
    findings: inherited.findings,
  }
}

/** Signing in and the like is for everybody, unless `public` says who may (project-file, "Permissions"). */
function publicAuthEntries(nobody: PermissionTable | undefined): PermissionTable {
  if (nobody?.has('auth')) return new Map()
  return toPermissionTable(
    { auth: { [WILDCARD]: true, changePassword: false } },
    ['roles', PUBLIC, 'permissions'],
    'open',
  )
}

const onEverySubject = (actions: Permissions[string]): Permissions =>
  Object.fromEntries([WILDCARD, ...Object.keys(BUILT_IN_ACTIONS)].map(subject => [subject, actions]))

/** Permissions that follow from a token's type stand where the type does. */
function tokenEntries(key: string, { type, permissions }: ApiTokenDeclaration): PermissionTable {
  switch (type) {
    case 'full-access':
      return toPermissionTable(onEverySubject({ [WILDCARD]: true }), ['apiTokens', key, 'type'], 'token-type')
    case 'read-only':
      return toPermissionTable(
        onEverySubject({ find: true, findOne: true, readDrafts: true }),
        ['apiTokens', key, 'type'],
        'token-type',
      )
    case 'custom':
      return toPermissionTable(permissions, ['apiTokens', key, 'permissions'])
  }
}

interface InheritedRoles {
  readonly roles: ReadonlyMap<string, PermissionTable>
  readonly findings: readonly AccessFinding[]
}

type DeclaredRoles = Readonly<Record<string, RoleDeclaration>>

/**
 * Every role with what it extends: a permission given again replaces the inherited one. A parent that does not exist, or
 * that extends the role in turn, adds nothing: project/ reports both, and its other faults are still worth reporting.
 */
function inheritRoles(declared: DeclaredRoles): InheritedRoles {
  const roles = new Map<string, PermissionTable>()
  const { order } = walkGraph(Object.keys(declared), key => parentsOf(key, declared))
  return { roles, findings: order.flatMap(key => resolve(key, declared, roles)) }
}

const parentsOf = (key: string, declared: DeclaredRoles): readonly string[] =>
  (declared[key]?.extends ?? []).filter(parent => Object.hasOwn(declared, parent))

/** Its parents are resolved; answers what they disagree on. */
function resolve(
  key: string,
  declared: DeclaredRoles,
  done: Map<string, PermissionTable>,
): readonly AccessFinding[] {
  const role = declared[key]
  if (!role) return []
  const parents = role.extends.map(parent => ({ name: parent, cells: done.get(parent) ?? new Map() }))
  const above = toPermissionTable(role.permissions, ['roles', key, 'permissions'])
  done.set(
    key,
    overridePermissions(parents.map(({ cells }) => cells).reduce(overridePermissions, new Map()), above),
  )
  return [...conflicts(key, parents, above)]
}

interface Parent {
  readonly name: string
  readonly cells: PermissionTable
}

/** What a parent says of every content-type, it says of one that another parent names. */
function* conflicts(
  key: string,
  parents: readonly Parent[],
  above: PermissionTable,
): Generator<AccessFinding> {
  for (const [subject, action] of subjectActions(parents)) {
    if (entryOf(above, subject, action)) continue
    const saying = parents.flatMap(({ name, cells }) => {
      const cell = entryOf(cells, subject, action) ?? wildcardEntry(cells, subject, action)
      return cell ? [{ name, cell }] : []
    })
    const [first, ...others] = saying
    for (const { name, cell } of others) {
      if (first && !isDeepStrictEqual(first.cell.value, cell.value))
        yield conflict(key, { subject, action }, [first.name, name], cell)
    }
  }
}

const wildcardEntry = (
  cells: PermissionTable,
  subject: string,
  action: string,
): PermissionEntry | undefined => (isBuiltInSubject(subject) ? undefined : entryOf(cells, WILDCARD, action))

type SubjectAction = readonly [subject: string, action: string]

/** Everything that some parent names, once. */
function subjectActions(parents: readonly Parent[]): readonly SubjectAction[] {
  const spots = new Map<string, SubjectAction>()
  for (const { cells } of parents) {
    for (const [subject, row] of cells) {
      for (const action of row.keys()) spots.set(`${subject} ${action}`, [subject, action])
    }
  }
  return [...spots.values()]
}

function conflict(
  key: string,
  { subject, action }: { readonly subject: string; readonly action: string },
  [one, other]: readonly [string, string],
  cell: PermissionEntry,
): AccessFinding {
  return {
    code: 'conflicting-parents',
    message: `\`${one}\` and \`${other}\` differ on \`${action}\` of \`${subject}\`: say it in \`${key}\``,
    path: ['roles', key, 'extends'],
    related: { path: cell.path, message: `as \`${other}\` has it` },
  }
}
