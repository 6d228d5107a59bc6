import type { Grants, WriteAccess } from '../access/caller.ts'
import { readablePaths } from '../access/compile/search-sets.ts'
import { readableAttributes } from '../access/readable-attributes.ts'
import type { Attribute, Component, ContentType, Holder, ScalarAttribute, ValueType } from '../model/model.ts'
import { MAX_SEARCH_LENGTH } from '../query/parse-text-search.ts'
import {
  arrayOf,
  closed,
  eitherOf,
  oneOf,
  type Schema,
  type SchemaContext,
  schemaName,
} from './answer-schemas.ts'

/** The attributes that a body may have: those that the caller may write and the server does not set. */
export function bodySchema(
  type: ContentType,
  access: WriteAccess,
  context: SchemaContext,
  { name, required }: { readonly name: string; readonly required: readonly string[] },
): Schema {
  const attributes = bodyAttributes(type, access, context)
  const names = new Set(attributes.map(attribute => attribute.name))
  const needed = required.filter(each => names.has(each))
  const key = `body ${context.key} ${type.uid} ${needed.join(' ')} / ${[...names].join(' ')}`
  return context.table.ref(key, name, () => closed(inputsOf(attributes, context), needed))
}

const bodyAttributes = (
  type: ContentType,
  access: WriteAccess,
  { grants }: Pick<SchemaContext, 'grants'>,
): readonly Attribute[] => [...type.attributes.values()].filter(each => isInBody(each, access, grants))

/** The same attributes, for a body with other keys, too. */
export const bodyProperties = (
  type: ContentType,
  access: WriteAccess,
  context: SchemaContext,
): Readonly<Record<string, Schema>> => inputsOf(bodyAttributes(type, access, context), context)

/** Whether a body of this caller may have the attribute. */
export const isInBody = (attribute: Attribute, access: WriteAccess, grants: Grants): boolean =>
  isWritable(attribute, grants) &&
  access.fields?.has(attribute.name) !== false &&
  !Object.hasOwn(access.set, attribute.name)

/** Drafts may lack what is required, and types with drafts can be created as drafts. */
export const requiredOnCreate = (type: ContentType): readonly string[] =>
  type.draftAndPublish ? [] : [...type.attributes.values()].filter(isRequired).map(({ name }) => name)

function isRequired(attribute: Attribute): boolean {
  if (attribute.system || !attribute.required) return false
  return attribute.kind !== 'scalar' || (attribute.default === undefined && attribute.generate !== true)
}

/** A relation to a type that the caller may not `find` cannot be written. */
export function isWritable(attribute: Attribute, grants: Grants): boolean {
  if (attribute.system || !attribute.writable || attribute.kind === 'morph') return false
  return attribute.kind !== 'relation' || grants.readAccess(attribute.target, 'find') !== null
}

const BINARY: Schema = { type: 'string', contentMediaType: 'application/octet-stream' }

interface FormOptions {
  readonly type: ContentType
  readonly access: WriteAccess
  readonly context: SchemaContext
  /** What `data` has as JSON. */
  readonly body: Schema
}

/**
 * The body of a save as a form of Strapi 4: the values as JSON text, and files by the names of their attributes. The names of
 * files in components and dynamic zones have the way to them, which is as deep as they are nested.
 */
export function formContent({ type, access, context, body }: FormOptions): Schema {
  const attributes = context.grants.allows('upload', 'upload') ? bodyAttributes(type, access, context) : []
  const files = attributes.flatMap(({ name, ...each }) =>
    each.kind === 'media' ? [[`files.${name}`, each.many ? arrayOf(BINARY) : BINARY] as const] : [],
  )
  const ways = attributes
    .filter(({ kind }) => kind === 'component' || kind === 'zone')
    .map(({ name }) => name)
  return {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['data'],
        properties: {
          data: { type: 'string', contentMediaType: 'application/json', contentSchema: body },
          ...Object.fromEntries(files),
        },
        ...(ways.length > 0 && { patternProperties: { [`^files\\.(${ways.join('|')})\\.`]: BINARY } }),
        additionalProperties: false,
      },
    },
  }
}

const inputsOf = (
  attributes: readonly Attribute[],
  context: SchemaContext,
): Readonly<Record<string, Schema>> =>
  Object.fromEntries(attributes.map(attribute => [attribute.name, inputSchema(attribute, context)]))

function inputSchema(attribute: Attribute, context: SchemaContext): Schema {
  switch (attribute.kind) {
    case 'scalar':
      return scalarInput(attribute)
    case 'component': {
      const { repeatable, min, max } = attribute
      const component = componentInput(attribute.component, context, false)
      return repeatable
        ? { ...arrayOf(component), ...bounds(min, max, 'Items') }
        : eitherOf(component, { type: 'null' })
    }
    case 'zone': {
      const { components, min, max } = attribute
      const entry = oneOf(
        '__component',
        components,
        components.map(component => componentInput(component, context, true)),
      )
      return { ...arrayOf(entry), ...bounds(min, max, 'Items') }
    }
    case 'media':
      return attribute.many ? FILES : FILE
    default:
      return context.table.ref('relation input', 'RelationInput', relationInput)
  }
}

/** With the `id` of an existing component the body changes it in part. */
function componentInput(component: Component, context: SchemaContext, isEntry: boolean): Schema {
  const name = `${schemaName(component)}${isEntry ? 'EntryInput' : 'Input'}`
  return context.table.ref(`input ${context.key} ${isEntry} ${component.uid}`, name, () => {
    const attributes = [...component.attributes.values()].filter(each => isWritable(each, context.grants))
    const mark = isEntry ? { __component: { type: 'string', const: component.uid } } : {}
    return closed({ ...mark, id: { type: 'integer' }, ...inputsOf(attributes, context) }, Object.keys(mark))
  })
}

const FILE: Schema = { type: ['integer', 'string', 'null'], description: 'The id or documentId of a file' }
const FILES: Schema = { type: ['array', 'null'], items: { type: ['integer', 'string'] } }

function relationInput(): Schema {
  const neighbour = eitherOf({ type: ['string', 'integer'] }, closed({ id: { type: 'integer' } }, ['id']))
  const position = closed({
    before: neighbour,
    after: neighbour,
    start: { type: 'boolean' },
    end: { type: 'boolean' },
  })
  const entry = eitherOf(
    { type: ['string', 'integer'] },
    closed({
      documentId: { type: 'string' },
      id: { type: 'integer' },
      locale: { type: 'string' },
      status: { type: 'string', enum: ['draft', 'published'] },
      position,
    }),
  )
  const list = { type: ['array', 'null'], items: entry }
  return {
    description: 'documentIds or ids. A list or `set` replaces all links.',
    anyOf: [entry, list, closed({ set: list, connect: list, disconnect: list })],
  }
}

function bounds(min: unknown, max: unknown, what: 'Items' | 'Length' | 'imum'): Schema {
  return {
    ...(typeof min === 'number' && { [`min${what}`]: min }),
    ...(typeof max === 'number' && { [`max${what}`]: max }),
  }
}

function scalarInput(attribute: ScalarAttribute): Schema {
  const { type, values, minLength, maxLength, min, max } = attribute
  const { type: input, ...rest } = INPUTS[type]
  if (input === undefined) return rest
  const named = values ? { enum: [...values, null] } : {}
  const initial = attribute.default
  return {
    type: [...(Array.isArray(input) ? input : [input]), 'null'],
    ...rest,
    ...named,
    ...bounds(minLength, maxLength, 'Length'),
    ...(NUMBERS.has(type) && bounds(min, max, 'imum')),
    ...(typeof initial === 'string' || typeof initial === 'boolean' || typeof initial === 'number'
      ? { default: initial }
      : {}),
  }
}

const NUMBERS: ReadonlySet<ValueType> = new Set(['integer', 'decimal', 'float'])
const TEXT: Schema = { type: 'string' }

const INPUTS: Readonly<Record<ValueType, Schema>> = {
  id: { type: 'integer' },
  documentId: TEXT,
  locale: TEXT,
  string: TEXT,
  text: TEXT,
  richtext: TEXT,
  enumeration: TEXT,
  email: TEXT,
  password: { type: 'string', format: 'password', writeOnly: true },
  uid: TEXT,
  date: { type: 'string', format: 'date' },
  time: { type: 'string', description: 'HH:mm:ss, with up to three decimals' },
  datetime: { type: ['string', 'integer'], description: 'ISO 8601 or milliseconds' },
  timestamp: { type: ['string', 'integer'], description: 'ISO 8601 or milliseconds' },
  integer: { type: 'integer' },
  biginteger: { type: ['string', 'integer'] },
  float: { type: 'number' },
  decimal: { type: 'number' },
  boolean: { type: 'boolean' },
  json: {},
  blocks: { type: 'array', items: { type: 'object' } },
  array: { type: 'array', items: {} },
}

/** `filters` of a type or component by the attributes that the caller may filter by. */
export function filterSchema(
  holder: Holder,
  readable: ReadonlySet<Attribute>,
  context: SchemaContext,
): Schema {
  const attributes = [...holder.attributes.values()].filter(each => readable.has(each))
  const key = `filter ${context.key} ${holder.uid} ${attributes.map(({ name }) => name).join(' ')}`
  const make = (): Schema => {
    const self = filterSchema(holder, readable, context)
    const own = attributes.flatMap(attribute => {
      const schema = attributeFilter(attribute, context)
      return schema ? [[attribute.name, schema] as const] : []
    })
    const groups = { $and: arrayOf(self), $or: arrayOf(self), $not: eitherOf(self, arrayOf(self)) }
    return closed({ ...Object.fromEntries(own), ...groups })
  }
  return context.table.ref(key, `${schemaName(holder)}Filters`, make, SOME_FILTERS)
}

const SOME_FILTERS: Schema = { type: 'object', additionalProperties: true }

/** null: the attribute cannot be filtered by. */
function attributeFilter(attribute: Attribute, context: SchemaContext): Schema | null {
  switch (attribute.kind) {
    case 'scalar':
      return context.table.ref('filter value', 'ValueFilter', valueFilter)
    case 'relation': {
      const view = context.grants.readAccess(attribute.target, 'find')
      const value = context.table.ref('filter value', 'ValueFilter', valueFilter)
      return view && eitherOf(filterSchema(attribute.target, view.readable, context), value)
    }
    case 'component':
      return filterSchema(attribute.component, readableAttributes(attribute.component), context)
    default:
      return null
  }
}

const OPERATORS = ['$eq', '$ne', '$eqi', '$nei', '$lt', '$lte', '$gt', '$gte', '$in', '$notIn'] as const
const TEXT_OPERATORS = ['contains', 'startsWith', 'endsWith'].flatMap(name => {
  const negated = `$not${name[0]?.toUpperCase()}${name.slice(1)}`
  return [`$${name}`, `$${name}i`, negated, `${negated}i`]
})

function valueFilter(): Schema {
  const value = { type: ['string', 'number', 'boolean', 'null'] }
  const operators = [...OPERATORS, ...TEXT_OPERATORS, '$between'].map(
    name => [name, eitherOf(value, arrayOf(value))] as const,
  )
  const not = { $ref: '#/components/schemas/ValueFilter' }
  return eitherOf(
    value,
    arrayOf(value),
    closed({
      ...Object.fromEntries(operators),
      $null: { type: 'boolean' },
      $notNull: { type: 'boolean' },
      $not: not,
    }),
  )
}

/** The names that `fields`, `sort` and `populate` may have. */
export function queryNames(attributes: Iterable<Attribute>, { grants }: SchemaContext) {
  const all = [...attributes]
  const scalars = all.filter(each => each.kind === 'scalar' && each.type !== 'password')
  const populated = all.filter(each => {
    if (each.kind === 'scalar') return false
    if (each.kind !== 'relation' && each.kind !== 'localizations') return true
    return grants.readAccess(each.target, 'find') !== null
  })
  return { fields: scalars.map(({ name }) => name), populates: populated.map(({ name }) => name) }
}

/** `search` and `highlight` of a type with a search (docs/search.md); none if the caller may read none of its attributes. */
export function searchParameters(type: ContentType, readable: ReadonlySet<Attribute>): readonly Schema[] {
  const paths = readablePaths(type, readable)
  const own = paths.filter(path => type.attributes.get(path)?.kind === 'scalar')
  if (paths.length === 0) return []
  const search = {
    ...{ name: 'search', in: 'query', schema: { type: 'string', maxLength: MAX_SEARCH_LENGTH } },
    description:
      'Words; `"a b"` in this order, `-a` without it, `a or b`. Sorted by relevance unless `sort` is given',
  }
  const highlight = {
    ...{ name: 'highlight', in: 'query', style: 'form', explode: false },
    description: 'Attributes to answer in `_highlight`, as HTML with the matches in `<mark>`',
    schema: arrayOf({ type: 'string', enum: own }),
  }
  return own.length === 0 ? [search] : [search, highlight]
}
