import type { Path } from '../../faults/diagnostic.ts'
import type { AttributeDeclaration } from '../settings/declarations.ts'
import type { Permissions, PermissionTerms, Settings } from '../settings/settings.ts'

/** An attribute with the path of its declaration. */
export interface AttributeAtPath {
  readonly attribute: AttributeDeclaration
  readonly path: Path
}

/** All attributes of components, content-types and the user. */
export function* attributesWithPaths({
  components,
  contentTypes,
  user,
}: Settings): Generator<AttributeAtPath> {
  for (const [name, { attributes }] of Object.entries(components))
    yield* within(['components', name], attributes)
  for (const [name, { attributes }] of Object.entries(contentTypes))
    yield* within(['contentTypes', name], attributes)
  yield* within(['user'], user.attributes)
}

function* within(
  holder: Path,
  attributes: Readonly<Record<string, AttributeDeclaration>>,
): Generator<AttributeAtPath> {
  for (const [name, attribute] of Object.entries(attributes)) {
    yield { attribute, path: [...holder, 'attributes', name] }
  }
}

interface PartialPermission {
  readonly terms: PermissionTerms
  readonly path: Path
}

/** All permissions of roles and tokens that have `where`, `fields` or `set`. */
export function* conditionalPermissions(settings: Settings): Generator<PartialPermission> {
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
