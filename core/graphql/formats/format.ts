import { memoize } from '../../base/memo.ts'
import { type Holder, isLink, type LinkAttribute, type Model } from '../../model/model.ts'
import { graphqlTypeName, graphqlWrapperNames } from '../../model/names.ts'
import type { GraphqlSettings } from '../../project/settings/settings.ts'

/** `nested`: the format of Strapi 4, `data { id attributes { … } }`; `flat`: that of Strapi 5. */
export type FormatName = GraphqlSettings['endpoints'][string]

/** How a field answers documents. `connection`: the object with the documents of a list; `payload`: of a mutation of users. */
export type DocumentUse = (typeof DOCUMENT_USES)[number]

export const DOCUMENT_USES = [
  'one',
  'list',
  'connection',
  'toOne',
  'toMany',
  'toManyConnection',
  'payload',
] as const

/** The objects between a field and the attributes of its documents. */
export interface DocumentShape {
  /** The object around the documents, and its field that has them; null: the field answers the documents themselves. */
  readonly around: { readonly type: string; readonly field: string } | null
  /** The type of the object around the attributes of each document, with its `id`; null: there is none. */
  readonly entity: string | null
}

/** The attribute that a field shows. */
export interface LinkField {
  readonly attribute: LinkAttribute
  readonly use: 'toOne' | 'toMany' | 'toManyConnection'
}

/** The differences between the two formats other than definitions, arguments and mutations. */
export interface GraphqlFormat {
  readonly name: FormatName
  /** The attribute that `id` of a document shows and filters by. */
  readonly entityId: 'id' | 'documentId'
  /** `typeName`: of the documents. */
  shapeOf(typeName: string, use: DocumentUse): DocumentShape
  /** The fields of a relation or media attribute, in order. */
  linkFields(attribute: LinkAttribute): readonly (readonly [name: string, use: LinkField['use']])[]
  /** The attribute of a field of this name; undefined: not a relation or media attribute. */
  linkField(holder: Holder, name: string): LinkField | undefined
  /** The locale argument that means all locales. */
  readonly allLocales: string
  /** The field with the counts of a list, next to its documents. */
  readonly pageField: 'meta' | 'pageInfo'
  readonly errors: ErrorRules
}

/** By type name: the objects around documents and around their attributes, with the field that leads to these. */
export type Wrappers = ReadonlyMap<string, { readonly kind: 'around' | 'entity'; readonly field: string }>

export const wrappersOf = (model: Model, format: GraphqlFormat): Wrappers => wrappersByFormat(model)(format)

/** Each root field asks for them. */
const wrappersByFormat = memoize((model: Model) =>
  memoize((format: GraphqlFormat) => findWrappers(model, format)),
)

function findWrappers({ contentTypes }: Model, format: GraphqlFormat): Wrappers {
  const found = new Map<string, { readonly kind: 'around' | 'entity'; readonly field: string }>()
  for (const type of contentTypes.values())
    for (const use of DOCUMENT_USES) {
      const { around, entity } = format.shapeOf(graphqlTypeName(type), use)
      if (around) found.set(around.type, { kind: 'around', field: around.field })
      if (entity) found.set(entity, { kind: 'entity', field: 'attributes' })
    }
  return found
}

/** How errors are answered (reference/graphql.md#10-errors, reference/graphql.md#12-the-flat-dialect). */
interface ErrorRules {
  /** Errors of resolvers have the path of their field. */
  readonly paths: boolean
  /** Details are those of REST, which name invalid keys and repeat invalid values. */
  readonly restDetails: boolean
  /** The code of a request that is no operation; null: most of these are answered as plain text. */
  readonly requestCode: 'BAD_REQUEST' | null
  /** The code of an operation that there is not: an unknown name, a subscription. */
  readonly operationCode: 'INTERNAL_SERVER_ERROR' | 'OPERATION_RESOLUTION_FAILURE'
}

const nestedUses: Readonly<Record<DocumentUse, 'response' | 'collection' | 'relation'>> = {
  one: 'response',
  list: 'collection',
  connection: 'collection',
  toOne: 'response',
  toMany: 'relation',
  toManyConnection: 'relation',
  payload: 'response',
}

const NESTED: GraphqlFormat = {
  name: 'nested',
  entityId: 'documentId',
  shapeOf(typeName, use) {
    const names = graphqlWrapperNames(typeName)
    return { around: { type: names[nestedUses[use]], field: 'data' }, entity: names.entity }
  },
  linkFields: ({ name, many }) => [[name, many ? 'toMany' : 'toOne']],
  linkField(holder, name) {
    const attribute = linkOf(holder, name)
    return attribute && { attribute, use: attribute.many ? 'toMany' : 'toOne' }
  },
  allLocales: 'all',
  pageField: 'meta',
  errors: {
    paths: false,
    restDetails: false,
    requestCode: null,
    operationCode: 'INTERNAL_SERVER_ERROR',
  },
}

const CONNECTION = '_connection'

const FLAT: GraphqlFormat = {
  name: 'flat',
  entityId: 'documentId',
  shapeOf(typeName, use) {
    const names = graphqlWrapperNames(typeName)
    switch (use) {
      case 'connection':
        return { around: { type: names.collection, field: 'nodes' }, entity: null }
      case 'toManyConnection':
        return { around: { type: names.relation, field: 'nodes' }, entity: null }
      case 'payload':
        return { around: { type: names.response, field: 'data' }, entity: null }
      default:
        return BARE
    }
  },
  linkFields: ({ name, many }) =>
    many
      ? [
          [`${name}${CONNECTION}`, 'toManyConnection'],
          [name, 'toMany'],
        ]
      : [[name, 'toOne']],
  linkField(holder, name) {
    const attribute = linkOf(holder, name)
    if (attribute) return { attribute, use: attribute.many ? 'toMany' : 'toOne' }
    if (!name.endsWith(CONNECTION)) return undefined
    const list = linkOf(holder, name.slice(0, -CONNECTION.length))
    return list?.many ? { attribute: list, use: 'toManyConnection' } : undefined
  },
  allLocales: '*',
  pageField: 'pageInfo',
  errors: {
    paths: true,
    restDetails: true,
    requestCode: 'BAD_REQUEST',
    operationCode: 'OPERATION_RESOLUTION_FAILURE',
  },
}

const BARE: DocumentShape = { around: null, entity: null }

export const FORMATS: Readonly<Record<FormatName, GraphqlFormat>> = { nested: NESTED, flat: FLAT }

const NESTED_RECORDS: GraphqlFormat = { ...NESTED, entityId: 'id' }

/** A format as `graphql.config.entityId` wants it. The flat format shows documentIds only. */
export const configuredFormat = (name: FormatName, entityId: EntityIdSetting): GraphqlFormat =>
  name === 'nested' && entityId === 'record' ? NESTED_RECORDS : FORMATS[name]

export type EntityIdSetting = GraphqlSettings['config']['entityId']

function linkOf({ attributes }: Holder, name: string): LinkAttribute | undefined {
  const attribute = attributes.get(name)
  return attribute && isLink(attribute) ? attribute : undefined
}
