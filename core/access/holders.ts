import { isDeepStrictEqual } from 'node:util'
import { walkGraph } from '../base/walk-graph.ts'
import type {
  ApiTokenDeclaration,
  Permissions,
  RoleDeclaration,
  Settings,
} from '../project/settings/settings.ts'
import { BUILT_IN_ACTIONS, isBuiltInSubject } from './actions.ts'
import {
  type AccessFinding,
  entryOf,
  overridePermissions,
  type PermissionEntry,
  type PermissionTable,
  toPermissionTable,
  WILDCARD,
} from './permission-entries.ts'

/** The entries of every role and API token, including inherited ones and those open to all callers. */
export interface Holders {
  /** By key; `public` is among them. */
  readonly roles: ReadonlyMap<string, PermissionTable>
  /** By key. */
  readonly tokens: ReadonlyMap<string, PermissionTable>
  /** Errors of inheritance. */
  readonly findings: readonly AccessFinding[]
}

export const PUBLIC = 'public'

export function resolveHolders({ roles, apiTokens }: Settings): Holders {
  const inherited = inheritRoles(roles)
  const open = publicAuthEntries(inherited.roles.get(PUBLIC))
  return {
    roles: new Map([...inherited.roles].map(([key, entries]) => [key, overridePermissions(open, entries)])),
    tokens: new Map(
      Object.entries(apiTokens).map(([key, token]) => [
        key,
        overridePermissions(open, tokenEntries(key, token)),
      ]),
    ),
    findings: inherited.findings,
  }
}

/** Sign-in and the other actions of `auth` are open to all callers unless `public` declares `auth` (project-file, "Permissions"). */
function publicAuthEntries(publicEntries: PermissionTable | undefined): PermissionTable {
  if (publicEntries?.has('auth')) return new Map()
  return toPermissionTable(
    { auth: { [WILDCARD]: true, changePassword: false } },
    ['roles', PUBLIC, 'permissions'],
    'open',
  )
}

const onEverySubject = (actions: Permissions[string]): Permissions =>
  Object.fromEntries([WILDCARD, ...Object.keys(BUILT_IN_ACTIONS)].map(subject => [subject, actions]))

/** Entries that follow from a token's type have the path of the type. */
function tokenEntries(key: string, token: ApiTokenDeclaration): PermissionTable {
  switch (token.type) {
    case 'full-access':
      return toPermissionTable(onEverySubject({ [WILDCARD]: true }), ['apiTokens', key, 'type'], 'token-type')
    case 'read-only':
      return toPermissionTable(
        onEverySubject({ find: true, findOne: true, readDrafts: true }),
        ['apiTokens', key, 'type'],
        'token-type',
      )
    case 'custom':
      return toPermissionTable(token.permissions, ['apiTokens', key, 'permissions'])
  }
}

interface InheritedRoles {
  readonly roles: ReadonlyMap<string, PermissionTable>
  readonly findings: readonly AccessFinding[]
}

type DeclaredRoles = Readonly<Record<string, RoleDeclaration>>

/**
 * Resolves `extends` of every role: an own entry overrides the inherited one. A missing or circular parent adds nothing:
 * project/ reports both, and this check still reports the other errors.
 */
function inheritRoles(declared: DeclaredRoles): InheritedRoles {
  const roles = new Map<string, PermissionTable>()
  const { order } = walkGraph(Object.keys(declared), key => parentsOf(key, declared))
  return { roles, findings: order.flatMap(key => resolve(key, declared, roles)) }
}

const parentsOf = (key: string, declared: DeclaredRoles): readonly string[] =>
  (declared[key]?.extends ?? []).filter(parent => Object.hasOwn(declared, parent))

/** Resolves a role whose parents are resolved; returns the conflicts between its parents. */
function resolve(
  key: string,
  declared: DeclaredRoles,
  done: Map<string, PermissionTable>,
): readonly AccessFinding[] {
  const role = declared[key]
  if (!role) return []
  const parents = role.extends.map(parent => ({ name: parent, entries: done.get(parent) ?? new Map() }))
  const above = toPermissionTable(role.permissions, ['roles', key, 'permissions'])
  done.set(
    key,
    overridePermissions(parents.map(({ entries }) => entries).reduce(overridePermissions, new Map()), above),
  )
  return [...conflicts(key, parents, above)]
}

interface Parent {
  readonly name: string
  readonly entries: PermissionTable
}

/** A parent's entry for `"*"` also conflicts with another parent's entry for a named content-type. */
function* conflicts(
  key: string,
  parents: readonly Parent[],
  above: PermissionTable,
): Generator<AccessFinding> {
  for (const [subject, action] of subjectActions(parents)) {
    if (entryOf(above, subject, action)) continue
    const saying = parents.flatMap(({ name, entries }) => {
      const entry = entryOf(entries, subject, action) ?? wildcardEntry(entries, subject, action)
      return entry ? [{ name, cell: entry }] : []
    })
    const [first, ...others] = saying
    for (const { name, cell: entry } of others) {
      if (first && !isDeepStrictEqual(first.cell.value, entry.value))
        yield conflict(key, { subject, action }, [first.name, name], entry)
    }
  }
}

const wildcardEntry = (
  entries: PermissionTable,
  subject: string,
  action: string,
): PermissionEntry | undefined => (isBuiltInSubject(subject) ? undefined : entryOf(entries, WILDCARD, action))

type SubjectAction = readonly [subject: string, action: string]

/** Every subject and action that some parent names, without duplicates. */
function subjectActions(parents: readonly Parent[]): readonly SubjectAction[] {
  const spots = new Map<string, SubjectAction>()
  for (const { entries } of parents) {
    for (const [subject, row] of entries) {
      for (const action of row.keys()) spots.set(`${subject} ${action}`, [subject, action])
    }
  }
  return [...spots.values()]
}

function conflict(
  key: string,
  { subject, action }: { readonly subject: string; readonly action: string },
  [one, other]: readonly [string, string],
  entry: PermissionEntry,
): AccessFinding {
  return {
    code: 'conflicting-parents',
    message: `\`${one}\` and \`${other}\` differ on \`${action}\` of \`${subject}\`: say it in \`${key}\``,
    path: ['roles', key, 'extends'],
    related: { path: entry.path, message: `as \`${other}\` has it` },
  }
}
