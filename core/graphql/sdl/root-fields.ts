import type { ContentType } from '../../model/model.ts'
import {
  graphqlMutationNames,
  graphqlQueryNames,
  graphqlTypeName,
  graphqlWrapperNames,
} from '../../model/names.ts'
import type { DocumentUse, GraphqlFormat } from '../formats/format.ts'
import type { FieldOptions } from './attribute-fields.ts'
import type { ShadowAction } from './enabled-crud.ts'
import {
  describedLocaleArgument,
  field,
  filtersArgument,
  localeArgument,
  PAGINATION,
  PUBLICATION_STATE,
  SORT,
  searchArgument,
} from './sdl.ts'

/** A generated root field, with the content-type and action that decide its resolver and permission. */
export interface RootField {
  readonly root: 'Query' | 'Mutation'
  readonly name: string
  readonly type: ContentType
  readonly action: ShadowAction | 'localize'
  readonly args: readonly string[]
  readonly use: Extract<DocumentUse, 'one' | 'list' | 'connection'>
}

/** Prints a root field in the schema language. */
export function printRootField({ name, type, action, args, use }: RootField, format: GraphqlFormat): string {
  if (format.name === 'flat' && action === 'delete') return field(name, 'DeleteMutationResponse', args)
  const typeName = graphqlTypeName(type)
  const { around } = format.shapeOf(typeName, use)
  return field(name, around?.type ?? (use === 'list' ? `[${typeName}]!` : typeName), args)
}

/** The generated queries and mutations of a content-type (reference/graphql.md#2-generated-types). Built-in types have fixed mutations. */
export function rootFields(type: ContentType, { shadow, format }: FieldOptions): readonly RootField[] {
  const all = ROOT_FIELDS[format.name](type)
  const own = type.builtIn ? all.filter(({ root }) => root === 'Query') : all
  return own
    .filter(({ action }) =>
      action === 'localize' ? shadow.hasLocalization(type) : shadow.hasAction(type, action),
    )
    .map(each => ({ ...each, type }))
}

type NamedRoot = Omit<RootField, 'type'>

const ROOT_FIELDS = {
  nested: (type: ContentType) => (type.kind === 'single' ? nestedSingle(type) : nestedCollection(type)),
  flat: (type: ContentType) => (type.kind === 'single' ? flatSingle(type) : flatCollection(type)),
}

const query = (
  action: ShadowAction,
  name: string,
  use: NamedRoot['use'],
  args: readonly string[],
): NamedRoot => ({
  root: 'Query',
  name,
  action,
  use,
  args,
})

const mutation = (action: NamedRoot['action'], name: string, args: readonly string[]): NamedRoot => ({
  root: 'Mutation',
  name,
  action,
  use: 'one',
  args,
})

const dataArgument = (type: ContentType): string =>
  `data: ${graphqlWrapperNames(graphqlTypeName(type)).input}`

function nestedCollection(type: ContentType): readonly NamedRoot[] {
  const { one, many } = graphqlQueryNames(type)
  const { create, update, delete: remove, localize } = graphqlMutationNames(type)
  const locale = localeArgument(type)
  const data = dataArgument(type)
  const list = [
    filtersArgument(type),
    PAGINATION,
    SORT,
    PUBLICATION_STATE,
    ...locale,
    ...searchArgument(type),
  ]
  return [
    query('findOne', one, 'one', ['id: ID', ...locale]),
    query('find', many, 'list', list),
    mutation('create', create, [`${data}!`, ...locale]),
    mutation('update', update, ['id: ID!', `${data}!`, ...locale]),
    mutation('delete', remove, ['id: ID!', ...locale]),
    mutation('localize', localize, ['id: ID', data, ...locale]),
  ]
}

function nestedSingle(type: ContentType): readonly NamedRoot[] {
  const { update, delete: remove, localize } = graphqlMutationNames(type)
  const locale = localeArgument(type)
  const data = dataArgument(type)
  const state = type.draftAndPublish ? [PUBLICATION_STATE] : []
  return [
    query('find', graphqlQueryNames(type).one, 'one', [...state, ...locale]),
    mutation('update', update, [`${data}!`, ...locale]),
    mutation('delete', remove, locale),
    mutation('localize', localize, ['id: ID', data, ...locale]),
  ]
}

const STATUS = 'status: PublicationStatus = PUBLISHED'
const VERSIONS = [STATUS, 'hasPublishedVersion: Boolean', 'publicationFilter: PublicationFilter']
const DOCUMENT_ID = 'documentId: ID!'

function flatCollection(type: ContentType): readonly NamedRoot[] {
  const { one, many, connection } = graphqlQueryNames(type)
  const { create, update, delete: remove } = graphqlMutationNames(type)
  const locale = describedLocaleArgument(type)
  const data = `${dataArgument(type)}!`
  const list = [filtersArgument(type), PAGINATION, SORT, ...VERSIONS, ...locale, ...searchArgument(type)]
  return [
    query('findOne', one, 'one', [DOCUMENT_ID, ...VERSIONS, ...locale]),
    query('find', connection, 'connection', list),
    query('find', many, 'list', list),
    mutation('create', create, [STATUS, data, ...locale]),
    mutation('update', update, [DOCUMENT_ID, STATUS, data, ...locale]),
    mutation('delete', remove, [DOCUMENT_ID, ...locale]),
  ]
}

function flatSingle(type: ContentType): readonly NamedRoot[] {
  const { update, delete: remove } = graphqlMutationNames(type)
  const locale = describedLocaleArgument(type)
  return [
    query('find', graphqlQueryNames(type).one, 'one', [...VERSIONS, ...locale]),
    mutation('update', update, [STATUS, `${dataArgument(type)}!`, ...locale]),
    mutation('delete', remove, locale),
  ]
}
