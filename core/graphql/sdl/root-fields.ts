import type { ContentType } from '../../model/model.ts'
import {
  graphqlMutationNames,
  graphqlQueryNames,
  graphqlTypeName,
  graphqlWrapperNames,
} from '../../model/names.ts'
import type { EnabledCrud, ShadowAction } from './enabled-crud.ts'
import { field, filtersArgument, localeArgument, PAGINATION, PUBLICATION_STATE, SORT } from './sdl.ts'

/** A generated root field, with the content-type and action that decide its resolver and permission. */
export interface RootField {
  readonly root: 'Query' | 'Mutation'
  readonly name: string
  readonly type: ContentType
  readonly action: ShadowAction | 'localize'
  readonly args: readonly string[]
}

/** Prints a root field in the schema language. */
export function printRootField({ name, type, action, args }: RootField): string {
  const names = graphqlWrapperNames(graphqlTypeName(type))
  const isList = action === 'find' && type.kind === 'collection'
  return field(name, isList ? names.collection : names.response, args)
}

/** The generated queries and mutations of a content-type (reference/graphql.md#2-generated-types). Built-in types have fixed mutations. */
export function rootFields(type: ContentType, shadow: EnabledCrud): readonly RootField[] {
  const all = type.kind === 'single' ? singleFields(type) : collectionFields(type)
  const own = type.builtIn ? all.filter(({ root }) => root === 'Query') : all
  return own.filter(({ action }) =>
    action === 'localize' ? shadow.localizes(type) : shadow.allows(type, action),
  )
}

function collectionFields(type: ContentType): readonly RootField[] {
  const { one, many } = graphqlQueryNames(type)
  const { create, update, delete: remove, localize } = graphqlMutationNames(type)
  const locale = localeArgument(type)
  const data = dataArgument(type)
  const list = [filtersArgument(type), PAGINATION, SORT, PUBLICATION_STATE, ...locale]
  return [
    { root: 'Query', name: one, type, action: 'findOne', args: ['id: ID', ...locale] },
    { root: 'Query', name: many, type, action: 'find', args: list },
    { root: 'Mutation', name: create, type, action: 'create', args: [`${data}!`, ...locale] },
    { root: 'Mutation', name: update, type, action: 'update', args: ['id: ID!', `${data}!`, ...locale] },
    { root: 'Mutation', name: remove, type, action: 'delete', args: ['id: ID!', ...locale] },
    { root: 'Mutation', name: localize, type, action: 'localize', args: ['id: ID', data, ...locale] },
  ]
}

function singleFields(type: ContentType): readonly RootField[] {
  const { one } = graphqlQueryNames(type)
  const { update, delete: remove, localize } = graphqlMutationNames(type)
  const locale = localeArgument(type)
  const data = dataArgument(type)
  const state = type.draftAndPublish ? [PUBLICATION_STATE] : []
  return [
    { root: 'Query', name: one, type, action: 'find', args: [...state, ...locale] },
    { root: 'Mutation', name: update, type, action: 'update', args: [`${data}!`, ...locale] },
    { root: 'Mutation', name: remove, type, action: 'delete', args: locale },
    { root: 'Mutation', name: localize, type, action: 'localize', args: ['id: ID', data, ...locale] },
  ]
}

const dataArgument = (type: ContentType): string =>
  `data: ${graphqlWrapperNames(graphqlTypeName(type)).input}`
