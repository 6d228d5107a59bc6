import type { ApiTokenDeclaration, Permissions, Settings } from '../project/settings/settings.ts'
import { BUILT_IN_ACTIONS } from './actions.ts'
import { inheritRoles } from './compile/inherit.ts'
import type { Finding } from './finding.ts'
import { type Cells, EVERY, overlay, toCells } from './permission-entries.ts'

/** What every role and every API token says, with what it inherits and what is open to all. */
export interface Holders {
  /** By key; `public` is among them. */
  readonly roles: ReadonlyMap<string, Cells>
  /** By key. */
  readonly tokens: ReadonlyMap<string, Cells>
  /** What is wrong with inheritance. */
  readonly findings: readonly Finding[]
}

export const PUBLIC = 'public'

export function resolveHolders({ roles, apiTokens }: Settings): Holders {
  const inherited = inheritRoles(roles)
  const open = openToAll(inherited.roles.get(PUBLIC))
  return {
    roles: new Map([...inherited.roles].map(([key, cells]) => [key, overlay(open, cells)])),
    tokens: new Map(
      Object.entries(apiTokens).map(([key, token]) => [key, overlay(open, tokenCells(key, token))]),
    ),
    findings: inherited.findings,
  }
}

/** Signing in and the like is for everybody, unless `public` says who may (project-file, "Permissions"). */
function openToAll(nobody: Cells | undefined): Cells {
  if (nobody?.has('auth')) return new Map()
  return toCells({ auth: { [EVERY]: true, changePassword: false } }, ['roles', PUBLIC, 'permissions'], 'open')
}

const everySubject = (actions: Permissions[string]): Permissions =>
  Object.fromEntries([EVERY, ...Object.keys(BUILT_IN_ACTIONS)].map(subject => [subject, actions]))

/** Permissions that follow from a token's type stand where the type does. */
function tokenCells(key: string, { type, permissions }: ApiTokenDeclaration): Cells {
  switch (type) {
    case 'full-access':
      return toCells(everySubject({ [EVERY]: true }), ['apiTokens', key, 'type'], 'token-type')
    case 'read-only':
      return toCells(
        everySubject({ find: true, findOne: true, readDrafts: true }),
        ['apiTokens', key, 'type'],
        'token-type',
      )
    case 'custom':
      return toCells(permissions, ['apiTokens', key, 'permissions'])
  }
}
