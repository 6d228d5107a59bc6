import {
  attributeName,
  type Declarations,
  type DeclaredHolder,
  type DeclaredType,
  holderName,
} from '../declarations.ts'
import {
  graphqlEnumName,
  graphqlMutationNames,
  graphqlQueryNames,
  graphqlTypeName,
  graphqlWrapperNames,
  graphqlZoneName,
} from '../names.ts'
import { findClashes, type ModelFinding, type NameClaim } from './finding.ts'

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
