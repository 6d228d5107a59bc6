import type { ContentType, Holder, LinkAttribute, Model } from '../../model/model.ts'
import { graphqlTypeName } from '../../model/names.ts'
import type { DocumentUse, GraphqlFormat } from '../formats/format.ts'
import type { AnsweredRow } from '../resolve/resolvers.ts'

/** A generated type that code may return: its content-type or component, and the objects around its attributes. */
export type ReturnedType = { readonly holder: Holder } & ReturnedWrapper

/** `around`: an object with one document or a list in `field`; `entity`: around the attributes of one document. */
export type ReturnedWrapper =
  | {
      readonly wrapper: 'around'
      readonly holder: ContentType
      readonly use: DocumentUse
      readonly field: string
      readonly many: boolean
      /** The field with the counts of the list, if the object has one. */
      readonly pageField: GraphqlFormat['pageField'] | null
    }
  | { readonly wrapper: 'entity'; readonly holder: ContentType }
  | { readonly wrapper: 'attributes' }

/** Returned types by GraphQL type name. */
export function returnedTypes(model: Model, format: GraphqlFormat): ReadonlyMap<string, ReturnedType> {
  const types = [...model.contentTypes.values()].flatMap(holder => returnedOf(holder, format))
  const components = [...model.components.values()].map((holder): readonly [string, ReturnedType] => [
    graphqlTypeName(holder),
    { wrapper: 'attributes', holder },
  ])
  return new Map<string, ReturnedType>([...types, ...components])
}

function returnedOf(
  holder: ContentType,
  format: GraphqlFormat,
): readonly (readonly [string, ReturnedType])[] {
  const name = graphqlTypeName(holder)
  const { entity } = format.shapeOf(name, 'one')
  const wrappers = AROUND.flatMap(([use, many, counts]): readonly (readonly [string, ReturnedType])[] => {
    const { around } = format.shapeOf(name, use)
    const pageField = counts ? format.pageField : null
    return around
      ? [[around.type, { wrapper: 'around', holder, use, field: around.field, many, pageField }]]
      : []
  })
  return [
    ...wrappers,
    ...(entity ? [[entity, { wrapper: 'entity', holder }] as const] : []),
    [name, { wrapper: 'attributes', holder }],
  ]
}

/** The uses with different objects around documents: whether these are a list, with counts. */
const AROUND: readonly (readonly [use: DocumentUse, many: boolean, counts: boolean])[] = [
  ['payload', false, false],
  ['connection', true, true],
  ['toManyConnection', true, false],
]

/** A value that code returned for a generated type: its documents, and a function that replaces them by rows. */
export interface ReturnedShape {
  readonly documents: readonly AnsweredRow[]
  build(rows: readonly AnsweredRow[]): unknown
}

/**
 * Accepts plain documents for all wrappers, and the schema's wrappers: `{ data }`, `{ data, meta }`, `{ nodes }`. Throws Error with a
 * message for other values.
 */
export function toShape(value: unknown, returned: ReturnedWrapper): ReturnedShape {
  if (value === null || value === undefined) return { documents: [], build: () => null }
  if (returned.wrapper !== 'around') return one(value)
  const { field, many: isList, pageField } = returned
  const isWrapped = isRow(value) && field in value && !('documentId' in value)
  const inner = isWrapped ? value[field] : value
  const { documents, build } = isList ? many(inner) : one(inner)
  const withMeta = (rows: unknown) =>
    pageField === null ? {} : { [pageField]: singlePage(rows, pageField), ...(isWrapped ? value : {}) }
  return {
    documents,
    build(rows) {
      const built = build(rows)
      return { ...withMeta(built), [field]: built }
    },
  }
}

/** The documents of a link of a document that exists only in code, with or without their wrapper. */
export function linkedDocuments(value: unknown, { many: isList }: LinkAttribute): readonly AnsweredRow[] {
  const wrapper =
    isRow(value) && !('documentId' in value) ? WRAPPERS.find(field => field in value) : undefined
  const inner = isRow(value) && wrapper !== undefined ? value[wrapper] : value
  return (isList ? many(inner ?? []) : one(inner)).documents
}

const WRAPPERS = ['data', 'nodes']

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

/** Pagination of one page with all rows. */
function singlePage(rows: unknown, field: GraphqlFormat['pageField']): unknown {
  const total = Array.isArray(rows) ? rows.length : 0
  const pagination = { total, page: 1, pageSize: total, pageCount: total === 0 ? 0 : 1 }
  return field === 'meta' ? { pagination } : pagination
}
