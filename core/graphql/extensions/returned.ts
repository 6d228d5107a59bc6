import type { ContentType, Holder, Model } from '../../model/model.ts'
import { graphqlTypeName, graphqlWrapperNames } from '../../model/names.ts'
import type { AnsweredRow } from '../resolve/resolvers.ts'

/** A generated type that code may return: its content-type or component, and its wrapper. */
export type ReturnedType =
  | {
      readonly wrapper: 'response' | 'collection' | 'relation' | 'entity'
      readonly holder: ContentType
    }
  | { readonly wrapper: 'attributes'; readonly holder: Holder }

/** Returned types by GraphQL type name. */
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

/** A value that code returned for a generated type: its documents, and a function that replaces them by rows. */
export interface ReturnedShape {
  readonly documents: readonly AnsweredRow[]
  build(rows: readonly AnsweredRow[]): unknown
}

/**
 * Accepts plain documents for all wrappers, and the schema's wrappers: `{ data }`, `{ data, meta }`. Throws Error with a
 * message for other values.
 */
export function toShape(value: unknown, wrapper: ReturnedType['wrapper']): ReturnedShape {
  if (value === null || value === undefined) return { documents: [], build: () => null }
  switch (wrapper) {
    case 'response':
      return inData(
        value,
        data => one(data),
        rows => ({ data: rows }),
      )
    case 'collection':
      return inData(value, many, rows => ({
        meta: singlePage(rows),
        ...wrapperProperties(value),
        data: rows,
      }))
    case 'relation':
      return inData(value, many, rows => ({ data: rows }))
    case 'entity':
    case 'attributes':
      return one(value)
  }
}

function inData(
  value: unknown,
  take: (data: unknown) => ReturnedShape,
  wrap: (built: unknown) => unknown,
): ReturnedShape {
  const isWrapped = isRow(value) && 'data' in value && !('documentId' in value)
  const { documents, build } = take(isWrapped ? value.data : value)
  return { documents, build: rows => wrap(build(rows)) }
}

function one(value: unknown): ReturnedShape {
  if (value === null || value === undefined) return { documents: [], build: () => null }
  return { documents: [toDocument(value)], build: ([row]) => row ?? null }
}

function many(value: unknown): ReturnedShape {
  if (!Array.isArray(value)) throw new Error('expected a list of documents, or { data: [...] } with one')
  const documents = value.filter(each => each !== null && each !== undefined).map(toDocument)
  return { documents, build: rows => rows }
}

/** Converts `{ id, attributes }` to a document. */
function toDocument(value: unknown): AnsweredRow {
  if (!isRow(value)) throw new Error('expected a document, as app.documents answers it')
  const { id, attributes } = value
  if ('documentId' in value || !isRow(attributes)) return value
  return typeof id === 'string' ? { documentId: id, ...attributes } : { id, ...attributes }
}

export const isRow = (value: unknown): value is AnsweredRow =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const wrapperProperties = (value: unknown): AnsweredRow => (isRow(value) && 'data' in value ? value : {})

/** Pagination of one page with all rows. */
function singlePage(rows: unknown): unknown {
  const total = Array.isArray(rows) ? rows.length : 0
  return { pagination: { total, page: 1, pageSize: total, pageCount: total === 0 ? 0 : 1 } }
}
