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
import {
  graphqlEnumName,
  graphqlMutationNames,
  graphqlQueryNames,
  graphqlTypeName,
  graphqlWrapperNames,
  graphqlZoneName,
  toSnakeCase,
} from '../names.ts'
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
    yield* findClashes('column-clash', 'column', [
      ...systemClaims(holder),
      ...declaredClaims(holder, declarations),
    ])
  }
}

/** PostgreSQL allows 1,600 columns in a table. The others are for system attributes. */
const MAX_COLUMNS = 1_500

/** No table has more columns than PostgreSQL allows. */
export function* columnCounts(declarations: Declarations): Generator<ModelFinding> {
  for (const holder of declarations.holders) {
    const { length } = declaredClaims(holder, declarations)
    if (length <= MAX_COLUMNS) continue
    const message = `${holderName(holder)} needs ${length} columns for its attributes; a table may have ${MAX_COLUMNS}: move attributes into components`
    yield { code: 'too-many-columns', message, path: holder.path, atKey: true }
  }
}

const declaredClaims = (holder: DeclaredHolder, declarations: Declarations): readonly NameClaim[] =>
  Object.entries(holder.attributes).flatMap(([name, declaration]) =>
    isSystem(name) ? [] : columnClaims({ holder, name, declaration }, declarations),
  )

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

/** Types of every schema, including GraphQL's own. */
const OWN_TYPES = [
  'Query',
  'Mutation',
  'Subscription',
  'ID',
  'String',
  'Int',
  'Float',
  'Boolean',
  'JSON',
  'DateTime',
  'Time',
  'Date',
  'Long',
  'Upload',
  'I18NLocaleCode',
  'Error',
  'Pagination',
  'PaginationArg',
  'ResponseCollectionMeta',
  'PublicationState',
  'GenericMorph',
  'FileInfoInput',
  ...['ID', 'Boolean', 'String', 'Int', 'Long', 'Float', 'Date', 'Time', 'DateTime', 'JSON'].map(
    type => `${type}FilterInput`,
  ),
  ...[
    'Me',
    'MeRole',
    'RegisterInput',
    'LoginInput',
    'PasswordPayload',
    'LoginPayload',
    'CreateRolePayload',
    'UpdateRolePayload',
    'DeleteRolePayload',
  ].map(name => `UsersPermissions${name}`),
]

const FLAT_TYPES = ['DeleteMutationResponse', 'PublicationStatus', 'PublicationFilter']

const OWN_QUERIES = ['me']

const OWN_MUTATIONS = [
  ...['upload', 'multipleUpload', 'updateFileInfo', 'removeFile', 'login', 'register', 'forgotPassword'],
  ...['resetPassword', 'changePassword', 'emailConfirmation'],
]

/** GraphQL types and the fields of Query and Mutation are named after declarations. Their names must be unique. */
export function* uniqueGraphqlNames(declarations: Declarations): Generator<ModelFinding> {
  const { types, holders, settings } = declarations
  const isFlat = Object.values(settings.graphql.endpoints).includes('flat')
  yield* findClashes('graphql-clash', 'GraphQL type', [
    ...own(isFlat ? [...OWN_TYPES, ...FLAT_TYPES] : OWN_TYPES),
    ...builtInFirst(holders).flatMap(typeClaims),
  ])
  const fields = builtInFirst(types)
  const queries = fields.flatMap(type => queryClaims(type, isFlat))
  yield* findClashes('graphql-clash', 'GraphQL query', [...own(OWN_QUERIES), ...queries])
  if (isFlat)
    for (const holder of holders) yield* findClashes('graphql-clash', 'GraphQL field', fieldClaims(holder))
  yield* findClashes('graphql-clash', 'GraphQL mutation', [
    ...own(OWN_MUTATIONS),
    ...fields.flatMap(mutationClaims),
  ])
}

const own = (names: readonly string[]): readonly NameClaim[] =>
  names.map(name => ({ name, by: 'Plinth itself', path: null }))

const isBuiltIn = (holder: DeclaredHolder): boolean => holder.holder === 'content-type' && holder.builtIn

/** Built-in types come first, so that a clash is reported at the project's declaration. */
const builtInFirst = <Holder extends DeclaredHolder>(holders: readonly Holder[]): readonly Holder[] =>
  holders.toSorted((one, two) => Number(isBuiltIn(two)) - Number(isBuiltIn(one)))

function typeClaims(holder: DeclaredHolder): readonly NameClaim[] {
  const name = graphqlTypeName(holder)
  const { input, filters, ...wrappers } = graphqlWrapperNames(name)
  const names = [name, input, filters, ...(holder.holder === 'content-type' ? Object.values(wrappers) : [])]
  return [...names.map(each => claim(each, holder)), ...attributeClaims(holder, name)]
}

const claim = (name: string, holder: DeclaredHolder): NameClaim => ({
  name,
  by: holderName(holder),
  path: isBuiltIn(holder) ? null : holder.path,
})

function attributeClaims(holder: DeclaredHolder, typeName: string): readonly NameClaim[] {
  return Object.entries(holder.attributes).flatMap(([attribute, { type }]) => {
    const by = {
      by: `attribute \`${attributeName(holder, attribute)}\``,
      path: [...holder.path, 'attributes', attribute],
    }
    if (type === 'enumeration') return [{ name: graphqlEnumName(typeName, attribute), ...by }]
    if (type !== 'dynamiczone') return []
    const zone = graphqlZoneName(typeName, attribute)
    return [
      { name: zone, ...by },
      { name: `${zone}Input`, ...by },
    ]
  })
}

function queryClaims(type: DeclaredType, isFlat: boolean): readonly NameClaim[] {
  const { one, many, connection } = graphqlQueryNames(type)
  const lists = [...(one === many ? [] : [many]), ...(isFlat ? [connection] : [])]
  return [one, ...(type.kind === 'single' ? [] : lists)].map(name => claim(name, type))
}

/** In the flat format each list of documents has a second field, `<attribute>_connection`. */
const fieldClaims = (holder: DeclaredHolder): readonly NameClaim[] =>
  Object.entries(holder.attributes).flatMap(([attribute, declaration]) => {
    const by = `attribute \`${attributeName(holder, attribute)}\``
    const path = isBuiltIn(holder) ? null : [...holder.path, 'attributes', attribute]
    const isList =
      (declaration.type === 'relation' && declaration.relation.endsWith('ToMany')) ||
      (declaration.type === 'media' && declaration.multiple)
    const names = isList ? [attribute, `${attribute}_connection`] : [attribute]
    return names.map(name => ({ name, by, path }))
  })

function mutationClaims(type: DeclaredType): readonly NameClaim[] {
  const { localize, ...mutations } = graphqlMutationNames(type)
  const names = [...Object.values(mutations), ...(type.localized ? [localize] : [])]
  return names.map(name => claim(name, type))
}
