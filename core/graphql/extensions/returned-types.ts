import { graphqlTypeName, graphqlWrapperNames } from '../../model/graphql-names.ts'
import type { ContentType, Holder, Model } from '../../model/model.ts'

/** A generated type that code may answer for: what it holds, in which wrapper. */
export type ReturnedType =
  | {
      readonly wrapper: 'response' | 'collection' | 'relation' | 'entity'
      readonly holder: ContentType
    }
  | { readonly wrapper: 'attributes'; readonly holder: Holder }

/** By the name of the type. */
export function returnedTypes(model: Model): ReadonlyMap<string, ReturnedType> {
  const types = [...model.contentTypes.values()].flatMap(holder => {
    const name = graphqlTypeName(holder)
    const { response, collection, relation, entity } = graphqlWrapperNames(name)
    return [
      [response, { wrapper: 'response', holder }],
      [collection, { wrapper: 'collection', holder }],
      [relation, { wrapper: 'relation', holder }],
      [entity, { wrapper: 'entity', holder }],
      [name, { wrapper: 'attributes', holder }],
    ] as const satisfies readonly (readonly [string, ReturnedType])[]
  })
  const components = [...model.components.values()].map((holder): readonly [string, ReturnedType] => [
    graphqlTypeName(holder),
    { wrapper: 'attributes', holder },
  ])
  return new Map<string, ReturnedType>([...types, ...components])
}
