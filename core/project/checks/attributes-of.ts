import type { Path } from '../../faults/diagnostic.ts'
import type { AttributeDeclaration, Settings } from '../settings/settings.ts'

/** An attribute and where it is declared. */
export interface DeclaredAttribute {
  readonly attribute: AttributeDeclaration
  readonly path: Path
}

/** Every attribute of the file: of components, content-types and the user. */
export function* attributesOf({ components, contentTypes, user }: Settings): Generator<DeclaredAttribute> {
  for (const [name, { attributes }] of Object.entries(components))
    yield* within(['components', name], attributes)
  for (const [name, { attributes }] of Object.entries(contentTypes))
    yield* within(['contentTypes', name], attributes)
  yield* within(['user'], user.attributes)
}

function* within(
  holder: Path,
  attributes: Readonly<Record<string, AttributeDeclaration>>,
): Generator<DeclaredAttribute> {
  for (const [name, attribute] of Object.entries(attributes)) {
    yield { attribute, path: [...holder, 'attributes', name] }
  }
}
