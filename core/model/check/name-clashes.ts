import type { AttributeDeclaration } from '../../project/settings/declarations.ts'
import {
  attributeName,
  type Declarations,
  type DeclaredAttribute,
  type DeclaredHolder,
  type DeclaredType,
  declaredAttributes,
  holderName,
} from '../declarations.ts'
import {
  attributeColumn,
  columnsOfLink,
  identifier,
  linkColumns,
  linkCoordinates,
  linkTableName,
} from '../identifiers.ts'
import { toSnakeCase } from '../names.ts'
import { findClashes, type ModelFinding, type NameClaim } from './finding.ts'

/** Singular and plural API IDs share one namespace: routes, queries and content files use them. */
export function* apiIds({ types }: Declarations): Generator<ModelFinding> {
  const own = types.filter(type => !type.builtIn)
  for (const type of own) {
    if (type.kind === 'collection' && type.pluralApiId === type.key) yield samePlural(type)
  }
  yield* findClashes('api-id-clash', 'API ID', own.flatMap(idClaims))
}

const samePlural = (type: DeclaredType): ModelFinding => ({
  code: 'api-id-clash',
  message: `the plural of \`${type.key}\` is \`${type.key}\` too: set another \`pluralApiId\``,
  path: type.path,
  atKey: true,
})

function idClaims(type: DeclaredType): readonly NameClaim[] {
  const names = type.kind === 'single' ? [type.key] : new Set([type.key, type.pluralApiId])
  return [...names].map(name => ({ name, by: holderName(type), path: type.path }))
}

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

/** No two attributes of a table share a column. */
export function* columnNames(declarations: Declarations): Generator<ModelFinding> {
  for (const holder of declarations.holders) {
    const declared = Object.entries(holder.attributes).flatMap(([name, declaration]) =>
      isSystem(name) ? [] : columnClaims({ holder, name, declaration }, declarations),
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

function columnClaims(attribute: DeclaredAttribute, declarations: Declarations): readonly NameClaim[] {
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
