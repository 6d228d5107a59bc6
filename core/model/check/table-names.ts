import type { AttributeDeclaration } from '../../project/settings/settings.ts'
import {
  attributeName,
  attributesOf,
  type Declarations,
  type DeclaredHolder,
  holderName,
} from '../declarations.ts'
import { identifier, linkTableName } from '../identifiers.ts'
import { type Claim, clashes } from './claims.ts'
import type { Finding } from './finding.ts'

/** Every content-type, component and to-many link has a table of its own name. */
export function* tableNames(declarations: Declarations): Generator<Finding> {
  yield* clashes('table-clash', 'table', [
    ...declarations.holders.map(holderClaim),
    ...linkClaims(declarations),
  ])
}

const holderClaim = (holder: DeclaredHolder): Claim => ({
  name: identifier(holder.tableName),
  by: holderName(holder),
  path: holder.path,
})

function* linkClaims(declarations: Declarations): Generator<Claim> {
  for (const { holder, name, declaration } of attributesOf(declarations)) {
    if (!hasLinkTable(declaration)) continue
    yield {
      name: linkTableName(identifier(holder.tableName), name),
      by: `attribute \`${attributeName(holder, name)}\``,
      path: [...holder.path, 'attributes', name],
    }
  }
}

function hasLinkTable(declaration: AttributeDeclaration): boolean {
  if (declaration.type === 'media') return declaration.multiple
  if (declaration.type !== 'relation' || declaration.mappedBy !== undefined) return false
  return declaration.relation === 'oneToMany' || declaration.relation === 'manyToMany'
}
