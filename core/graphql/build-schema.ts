import { mergeTypeDefs } from '@graphql-tools/merge'
import { makeExecutableSchema } from '@graphql-tools/schema'
import { pruneSchema } from '@graphql-tools/utils'
import type { GraphQLSchema } from 'graphql'
import type { Model } from '../model/model.ts'
import { filterInputs } from './filter-inputs.ts'
import { FIXED_TYPES, SIGN_IN, UPLOADS, USERS } from './fixed-definitions.ts'
import type { FixedTerms } from './fixed-field.ts'
import { fixedResolvers } from './fixed-resolvers.ts'
import { componentDefinitions, contentTypeDefinitions } from './holder-definitions.ts'
import { type ResolveTerms, readResolver } from './resolve-read.ts'
import { resolversOf } from './resolvers.ts'
import { printRootField, type RootField, rootFields } from './root-fields.ts'
import { objectType, type Sdl } from './sdl.ts'
import type { ShadowCrud } from './shadow-crud.ts'

export interface GeneratedSchema {
  readonly schema: GraphQLSchema
  /** By `Query.articles`. */
  readonly rootFields: ReadonlyMap<string, RootField>
}

/** Model → schema: what is generated, and what signing in and uploads add, without what nothing leads to. Without `terms` it answers nothing. */
export function buildSchema(
  model: Model,
  shadow: ShadowCrud,
  terms: FixedTerms | null = null,
): GeneratedSchema {
  const roots = [...model.contentTypes.values()].flatMap(type => rootFields(type, shadow))
  const schema = makeExecutableSchema({
    typeDefs: mergeTypeDefs(generate(model, shadow, roots)),
    resolvers: [resolversOf(model), ...(terms ? [rootResolvers(roots, terms), fixedResolvers(terms)] : [])],
    resolverValidationOptions: { requireResolversToMatchSchema: 'ignore' },
  })
  return {
    schema: pruneSchema(schema),
    rootFields: new Map(roots.map(root => [`${root.root}.${root.name}`, root])),
  }
}

const rootResolvers = (roots: readonly RootField[], terms: ResolveTerms) => ({
  Query: Object.fromEntries(
    roots.filter(({ root }) => root === 'Query').map(root => [root.name, readResolver(root, terms)]),
  ),
})

const generate = (model: Model, shadow: ShadowCrud, roots: readonly RootField[]): Sdl[] =>
  [
    FIXED_TYPES,
    SIGN_IN,
    UPLOADS,
    USERS,
    ...filterInputs(),
    ...[...model.components.values()].flatMap(component => componentDefinitions(component, shadow)),
    ...[...model.contentTypes.values()]
      .filter(type => shadow.shows(type))
      .flatMap(type => contentTypeDefinitions(type, shadow)),
    ...(['Query', 'Mutation'] as const).map(name =>
      objectType(name, roots.filter(({ root }) => root === name).map(printRootField)),
    ),
  ].filter(definition => definition !== '')
