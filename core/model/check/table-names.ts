import type { AttributeDeclaration } from '../../project/settings/declarations.ts'
import {
  attributeName,
  type Declarations,
  type DeclaredHolder,
  declaredAttributes,
  holderName,
} from '../declarations.ts'
import { identifier, linkTableName } from '../identifiers.ts'
import { findClashes, type ModelFinding, type NameClaim } from './finding.ts'

/** The table names of content-types, components and to-many links must be unique. */
export function* tableNames(declarations: Declarations): Generator<ModelFinding> {
  yield* findClashes('table-clash', 'table', [
    ...declarations.holders.map(claimTable),
    ...linkClaims(declarations),
  ])
}

const claimTable = (holder: DeclaredHolder): NameClaim => ({
  name: identifier(holder.tableName),
  by: holderName(holder),
  path: holder.path,
})

function* linkClaims(declarations: Declarations): Generator<NameClaim> {
  for (const { holder, name, declaration } of declaredAttributes(declarations)) {
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
