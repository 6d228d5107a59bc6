import type { Action } from '../access/actions.ts'
import type { Grants } from '../access/caller.ts'
import { readableAttributes } from '../access/readable-attributes.ts'
import type {
  Attribute,
  Component,
  ContentType,
  Holder,
  LinkAttribute,
  MorphAttribute,
  ScalarAttribute,
  ValueType,
  ZoneAttribute,
} from '../model/model.ts'
import { toPascalCase } from '../model/names.ts'
import { allShapes } from '../query/populate-nodes.ts'

/** A JSON Schema (2020-12), as OpenAPI 3.1 has it. */
export type Schema = Readonly<Record<string, unknown>>

/**
 * `components/schemas` of one document. Schemas are named at first use, so that recursive ones can refer to themselves.
 * Chains of references end after MAX_DEPTH schemas: tools that follow them recursively would exhaust their stack.
 */
export class SchemaTable {
  readonly schemas: Record<string, Schema> = Object.create(null)
  readonly #names = new Map<string, string>()
  readonly #taken = new Set<string>()
  #depth = 0

  /**
   * The reference to the schema of `key`, which `make` prints at its first use. `wanted`: its name, if it is free. `short`:
   * the schema at the end of a long chain.
   */
  ref(key: string, wanted: string, make: () => Schema, short?: Schema): Schema {
    const known = this.#names.get(key)
    if (known !== undefined) return refTo(known)
    if (short && this.#depth >= MAX_DEPTH) return short
    const name = this.#freeName(wanted)
    this.#names.set(key, name)
    this.schemas[name] = {}
    this.#depth++
    this.schemas[name] = make()
    this.#depth--
    return refTo(name)
  }

  #freeName(wanted: string): string {
    let name = wanted
    for (let number = 2; this.#taken.has(name); number++) name = `${wanted}${number}`
    this.#taken.add(name)
    return name
  }
}

const MAX_DEPTH = 80

const refTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

/** How documents are answered: `flat`, or under `attributes` as in Strapi 4. */
export type DocumentFormat = 'flat' | 'v4'

/** What decides how documents look for one caller. */
export interface SchemaContext {
  readonly table: SchemaTable
  readonly grants: Grants
  /** Tells contexts of one table apart: routes with their own `auth` have other grants. */
  readonly key: string
  readonly format: DocumentFormat
}

/** `__type` marks the entries of `related` of files, `__component` those of dynamic zones. */
type Mark = '__type' | '__component' | null

/** The documents that an action answers; null: the caller may not read any of their attributes by it. */
export function documentSchema(type: ContentType, action: Action, context: SchemaContext): Schema | null {
  const view = context.grants.readAccess(type, action)
  return view && documentOf(type, view.readable, context)
}

/** A document of which exactly these attributes may be read. */
export function documentOf(
  type: ContentType,
  readable: ReadonlySet<Attribute>,
  context: SchemaContext,
): Schema {
  const names = [...type.attributes.values()].filter(attribute => readable.has(attribute))
  const key = `${context.format} ${context.key} ${type.uid} ${names.map(({ name }) => name).join(' ')}`
  const make = (): Schema => {
    const values = propertiesOf(type, names, context)
    const marked = type.search ? { _highlight: HIGHLIGHT } : {}
    if (context.format === 'flat') return closed({ ...IDS, ...values, ...marked }, ['id', 'documentId'])
    return closed({ ...IDS, attributes: closed(values), ...marked }, ['id', 'documentId', 'attributes'])
  }
  return context.table.ref(key, schemaName(type), make, SOME_DOCUMENT)
}

/** Only with the parameter `highlight`: excerpts by attribute, as HTML. */
const HIGHLIGHT: Schema = { type: 'object', additionalProperties: { type: ['string', 'null'] } }

/** An object without other properties. */
export const closed = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
})

export const arrayOf = (items: Schema): Schema => ({ type: 'array', items })

export const eitherOf = (...schemas: readonly Schema[]): Schema =>
  schemas.length === 1 && schemas[0] ? schemas[0] : { anyOf: schemas }

/** The name of a content-type or component in the document: `Article`, `SharedSeoComponent`. */
export const schemaName = (holder: Holder): string =>
  holder.holder === 'component' ? `${toPascalCase(holder.uid)}Component` : toPascalCase(holder.key)

const IDS = { id: { type: 'integer' }, documentId: { type: 'string' } } as const

/** A document whose attributes are described elsewhere. */
const SOME_DOCUMENT: Schema = {
  type: 'object',
  properties: IDS,
  required: ['id', 'documentId'],
  additionalProperties: true,
}

function componentSchema(component: Component, context: SchemaContext, mark: Mark = null): Schema {
  const name = mark === '__component' ? `${schemaName(component)}Entry` : schemaName(component)
  return markedSchema(component, name, context, mark)
}

/** Components and marked documents are flat in every format, but what they link to is not, except below `related`. */
function markedSchema(holder: Holder, name: string, context: SchemaContext, mark: Mark): Schema {
  const key = `${context.format} ${context.key} ${mark} ${holder.uid}`
  return context.table.ref(key, name, () => {
    const readable = readableOf(holder, context)
    const ids = holder.holder === 'component' ? { id: IDS.id } : IDS
    const marked = mark === null ? {} : { [mark]: { type: 'string', const: holder.uid } }
    const properties = { ...marked, ...ids, ...propertiesOf(holder, readable, context) }
    return closed(properties, [...Object.keys(marked), ...Object.keys(ids)])
  })
}

function readableOf(holder: Holder, { grants }: SchemaContext): readonly Attribute[] {
  const readable =
    holder.holder === 'component'
      ? readableAttributes(holder)
      : (grants.readAccess(holder, 'find')?.readable ?? new Set<Attribute>())
  return [...holder.attributes.values()].filter(attribute => readable.has(attribute))
}

function propertiesOf(
  holder: Holder,
  attributes: readonly Attribute[],
  context: SchemaContext,
): Readonly<Record<string, Schema>> {
  const entries = attributes.flatMap(attribute => {
    const schema = attributeSchema(attribute, holder, context)
    return schema && !(attribute.name in IDS) ? [[attribute.name, schema] as const] : []
  })
  return Object.fromEntries(entries)
}

/** null: the caller can never see the attribute. */
function attributeSchema(attribute: Attribute, holder: Holder, context: SchemaContext): Schema | null {
  switch (attribute.kind) {
    case 'scalar':
      return scalarSchema(attribute, isAlwaysSet(attribute, holder))
    case 'component': {
      const component = componentSchema(attribute.component, context)
      return countable(attribute.repeatable ? arrayOf(component) : eitherOf(component, NULL), context)
    }
    case 'zone':
      return arrayOf(zoneSchema(attribute, holder, context))
    case 'morph':
      return countable(arrayOf(relatedSchema(attribute, context)), context)
    default:
      return linkSchema(attribute, context)
  }
}

/** Null: populated with no one behind it. `count` answers a number instead of documents. */
function linkSchema(attribute: LinkAttribute, context: SchemaContext): Schema | null {
  const { target, many, kind } = attribute
  const readable =
    kind === 'media' ? readableAttributes(target) : context.grants.readAccess(target, 'find')?.readable
  if (!readable) return null
  const document = documentOf(target, readable, context)
  // In a project of Strapi 4, a list of files without any is null.
  const list =
    kind === 'media' && context.format === 'v4' ? eitherOf(arrayOf(document), NULL) : arrayOf(document)
  const rows = many ? list : eitherOf(document, NULL)
  const link = context.format === 'flat' ? rows : closed({ data: rows }, ['data'])
  return kind === 'relation' ? countable(link, context) : link
}

/** `populate[name][count]=true` answers the number of entries. */
const countable = (schema: Schema, { table, format }: SchemaContext): Schema => {
  const number = closed({ count: { type: 'integer' } }, ['count'])
  const count = table.ref(`count ${format}`, format === 'flat' ? 'Count' : 'CountV4', () =>
    format === 'flat' ? number : closed({ data: closed({ attributes: number }, ['attributes']) }, ['data']),
  )
  const known = schema.anyOf
  return Array.isArray(known) ? { anyOf: [...known, count] } : { anyOf: [schema, count] }
}

/** The documents and components that use a file. In a project of many types their union would be most of the document. */
function relatedSchema(attribute: MorphAttribute, context: SchemaContext): Schema {
  const shapes = allShapes(attribute).filter(
    shape => shape.holder === 'component' || context.grants.readAccess(shape, 'find') !== null,
  )
  const flat: SchemaContext = { ...context, format: 'flat' }
  const entries = shapes
    .slice(0, MAX_RELATED)
    .map(shape => markedSchema(shape, `${schemaName(shape)}UsingFile`, flat, '__type'))
  if (shapes.length === entries.length && shapes.length > 0) return oneOf('__type', shapes, entries)
  return {
    type: 'object',
    properties: { __type: { type: 'string' }, ...IDS },
    required: ['__type', 'id'],
    additionalProperties: true,
  }
}

const MAX_RELATED = 40

function zoneSchema(zone: ZoneAttribute, holder: Holder, context: SchemaContext): Schema {
  const { name, components } = zone
  return context.table.ref(
    `zone ${context.format} ${context.key} ${holder.uid} ${name}`,
    `${schemaName(holder)}${toPascalCase(name)}Entry`,
    () =>
      oneOf(
        '__component',
        components,
        components.map(component => componentSchema(component, context, '__component')),
      ),
  )
}

/** A union whose members differ in a property with their uid. */
export const oneOf = (
  propertyName: string,
  holders: readonly Holder[],
  schemas: readonly Schema[],
): Schema => ({
  oneOf: schemas,
  discriminator: {
    propertyName,
    mapping: Object.fromEntries(holders.map(({ uid }, at) => [uid, schemas[at]?.$ref])),
  },
})

const NULL: Schema = { type: 'null' }

const ALWAYS_SET: ReadonlySet<string> = new Set(['createdAt', 'updatedAt'])

/** Drafts, and components of drafts, may lack what is required. */
function isAlwaysSet(attribute: ScalarAttribute, holder: Holder): boolean {
  if (attribute.system) return ALWAYS_SET.has(attribute.name)
  return attribute.required && holder.holder === 'content-type' && !holder.draftAndPublish
}

function scalarSchema({ type, values }: ScalarAttribute, isSet: boolean): Schema | null {
  const schema = VALUES[type]
  if (schema === null) return null
  const named = values ? { ...schema, enum: isSet ? values : [...values, null] } : schema
  if (isSet || schema.type === undefined) return named
  return { ...named, type: [schema.type, 'null'] }
}

const STRING: Schema = { type: 'string' }
const NUMBER: Schema = { type: 'number' }

/** Values of scalar types in answers; null: never answered. */
const VALUES: Readonly<Record<ValueType, Schema | null>> = {
  id: { type: 'integer' },
  documentId: STRING,
  locale: STRING,
  string: STRING,
  text: STRING,
  richtext: { type: 'string', contentMediaType: 'text/markdown' },
  enumeration: STRING,
  email: { type: 'string', format: 'email' },
  password: null,
  uid: STRING,
  date: { type: 'string', format: 'date' },
  time: { type: 'string', description: '13:45:10.25, without trailing zeros' },
  datetime: { type: 'string', format: 'date-time' },
  timestamp: { type: 'string', description: 'Milliseconds since 1970' },
  integer: { type: 'integer' },
  biginteger: { type: 'string', description: 'A 64-bit integer as text' },
  float: NUMBER,
  decimal: NUMBER,
  boolean: { type: 'boolean' },
  json: { description: 'Any JSON' },
  blocks: { type: 'array', items: { type: 'object' }, description: 'Nodes of rich text' },
  array: { type: 'array', items: {} },
}
