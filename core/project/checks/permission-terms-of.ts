import type { Path } from '../../faults/diagnostic.ts'
import type { Permissions, PermissionTerms, Settings } from '../settings/settings.ts'

interface PartialPermission {
  readonly terms: PermissionTerms
  readonly path: Path
}

/** Every permission that is granted in part, of roles and of tokens. */
export function* permissionTermsOf(settings: Settings): Generator<PartialPermission> {
  for (const section of ['roles', 'apiTokens'] as const) {
    for (const [key, { permissions }] of Object.entries(settings[section])) {
      yield* termsIn(permissions, [section, key, 'permissions'])
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
