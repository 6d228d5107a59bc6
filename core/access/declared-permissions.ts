import type { Path } from '../faults/diagnostic.ts'
import type { Permissions, Settings } from '../project/settings/settings.ts'

/** The permissions of one role or token, with their path in the project file. */
export interface DeclaredPermissions {
  readonly permissions: Permissions
  readonly path: Path
}

/** The permissions of roles and of tokens of the type `custom`. */
export const declaredPermissions = ({ roles, apiTokens }: Settings): readonly DeclaredPermissions[] => [
  ...Object.entries(roles).map(
    ([key, { permissions }]): DeclaredPermissions => ({ permissions, path: ['roles', key, 'permissions'] }),
  ),
  ...Object.entries(apiTokens).flatMap(([key, token]): readonly DeclaredPermissions[] =>
    token.type === 'custom'
      ? [{ permissions: token.permissions, path: ['apiTokens', key, 'permissions'] }]
      : [],
  ),
]
