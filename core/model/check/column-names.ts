import { attributeColumn, columnsOfLink, linkColumns, linkCoordinates } from '../column-names.ts'
import {
  attributeName,
  type Declarations,
  type DeclaredAttribute,
  type DeclaredHolder,
} from '../declarations.ts'
import { toSnakeCase } from '../names.ts'
import { findClashes, type ModelFinding, type NameClaim } from './finding.ts'

/** No two attributes of a table share a column. */
export function* columnNames(declarations: Declarations): Generator<ModelFinding> {
  for (const holder of declarations.holders) {
    const declared = Object.entries(holder.attributes).flatMap(([name, declaration]) =>
      isSystem(name) ? [] : claimsOf({ holder, name, declaration }, declarations),
    )
    yield* findClashes('column-clash', 'column', [...systemClaims(holder), ...declared])
  }
}

const SYSTEM = ['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt']

/** Clashes with system attributes are reported by reserved-names.ts. */
const isSystem = (name: string): boolean => SYSTEM.includes(name)

const systemClaims = (holder: DeclaredHolder): readonly NameClaim[] =>
  (holder.holder === 'component' ? ['id'] : SYSTEM).map(name => ({
    name: toSnakeCase(name),
    by: `system attribute \`${name}\``,
    path: null,
  }))

function claimsOf(attribute: DeclaredAttribute, declarations: Declarations): readonly NameClaim[] {
  const { holder, name } = attribute
  const by = `attribute \`${attributeName(holder, name)}\``
  const path = [...holder.path, 'attributes', name]
  return columnsOf(attribute, declarations).map(column => ({ name: column, by, path }))
}

function columnsOf(
  { holder, name, declaration }: DeclaredAttribute,
  { targets }: Declarations,
): readonly string[] {
  switch (declaration.type) {
    case 'component':
    case 'dynamiczone':
      return []
    case 'media':
      return declaration.multiple ? [] : [linkColumns(holder.holder, name, ONE_WAY).key]
    case 'relation': {
      const target = targets.get(declaration.target)
      const toMany = declaration.relation === 'oneToMany' || declaration.relation === 'manyToMany'
      if (target === undefined || toMany || declaration.mappedBy !== undefined) return []
      const ordered = declaration.relation === 'manyToOne' && declaration.inversedBy !== undefined
      return columnsOfLink(linkColumns(holder.holder, name, linkCoordinates(holder, target, ordered)))
    }
    default:
      return [attributeColumn(holder.holder, name)]
  }
}

const ONE_WAY = { status: false, locale: false, inverseOrder: false }
