import type { Attribute, Holder, ScalarAttribute, ValueType } from '../../../core/model/model.ts'
import type { Column, ColumnType } from '../../../core/model/storage.ts'

/** Below this depth, and for recursive references, the generated type is `unknown`. */
const DEEPEST = 12

interface Scope {
  readonly root: unknown
  readonly depth: number
}

/**
 * The TypeScript type of a JSON Schema (draft 2020-12), on one line. It may allow more than the schema: whatever
 * TypeScript cannot express (patterns, bounds, `not`, `if`) is checked at load time.
 */
export const printSchema = (schema: unknown): string => print(schema, { root: schema, depth: 0 })

function print(schema: unknown, scope: Scope): string {
  if (schema === false) return 'never'
  if (!isMapping(schema) || scope.depth > DEEPEST) return 'unknown'
  const below = { ...scope, depth: scope.depth + 1 }
  const parts = [
    ...listOf(schema.allOf).map(each => print(each, below)),
    ...[schema.anyOf, schema.oneOf].filter(Array.isArray).map(each => printUnion(each, below)),
    ...(typeof schema.$ref === 'string' ? [print(find(scope.root, schema.$ref), below)] : []),
    printItself(schema, below),
  ]
  const known = [...new Set(parts)].filter(part => part !== 'unknown')
  return known.length > 1 ? known.map(inBrackets).join(' & ') : (known[0] ?? 'unknown')
}

type Schema = Readonly<Record<string, unknown>>

function printItself(schema: Schema, scope: Scope): string {
  if ('const' in schema) return printLiteral(schema.const)
  if (Array.isArray(schema.enum)) return unite(schema.enum.map(printLiteral))
  const types = schema.type === undefined ? impliedTypes(schema) : [schema.type].flat()
  return types.length === 0 ? 'unknown' : unite(types.map(type => printType(type, schema, scope)))
}

/** A schema with `properties` but without `type` means an object, although it formally allows other types. */
const impliedTypes = (schema: Schema): readonly string[] =>
  ['properties', 'additionalProperties', 'patternProperties', 'required'].some(key => key in schema)
    ? ['object']
    : []

function printType(type: unknown, schema: Schema, scope: Scope): string {
  switch (type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
      return 'number'
    case 'array':
      return printArray(schema, scope)
    case 'object':
      return printObject(schema, scope)
    default:
      return 'unknown'
  }
}

function printArray({ prefixItems, items, minItems }: Schema, scope: Scope): string {
  const rest = `readonly ${inBrackets(print(items, scope))}[]`
  if (!Array.isArray(prefixItems)) return rest
  const least = typeof minItems === 'number' ? minItems : 0
  const first = prefixItems.map((each, at) => `${inBrackets(print(each, scope))}${at < least ? '' : '?'}`)
  return `readonly [${[...first, ...(items === false ? [] : [`...${rest}`])].join(', ')}]`
}

function printObject(schema: Schema, scope: Scope): string {
  const { properties, additionalProperties: others, patternProperties } = schema
  const required = new Set(listOf(schema.required))
  const named = isMapping(properties) ? Object.entries(properties) : []
  const fields = named.map(
    ([name, each]) => `${printPropertyName(name)}${required.has(name) ? '' : '?'}: ${print(each, scope)}`,
  )
  const isClosed = others === false && patternProperties === undefined
  const isOfOneKind = named.length === 0 && patternProperties === undefined
  // An index signature must cover the types of all named keys.
  const index = isClosed ? [] : [`[key: string]: ${isOfOneKind ? print(others, scope) : 'unknown'}`]
  return fields.length + index.length === 0
    ? '{ [key: string]: never }'
    : `{ ${[...fields, ...index].join('; ')} }`
}

const printUnion = (schemas: readonly unknown[], scope: Scope): string =>
  unite(schemas.map(each => print(each, scope)))

function unite(types: readonly string[]): string {
  const each = [...new Set(types)]
  if (each.includes('unknown')) return 'unknown'
  return each.length > 1 ? each.map(inBrackets).join(' | ') : (each[0] ?? 'never')
}

/** Adds brackets only if the type would be ambiguous next to another one. */
const inBrackets = (type: string): string =>
  / [|&] /.test(type.replace(/'(?:[^'\\]|\\.)*'/g, "''")) || type.startsWith('readonly ') ? `(${type})` : type

function printLiteral(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  return value === null || ['number', 'boolean'].includes(typeof value) ? String(value) : 'unknown'
}

/** Resolves a reference within the schema (`#/$defs/place`); undefined for any other reference. */
function find(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined
  const steps = reference
    .slice(1)
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return steps.reduce<unknown>(
    (at, step) => (isMapping(at) && Object.hasOwn(at, step) ? at[step] : undefined),
    root,
  )
}

const isMapping = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The type of an attribute in documents; null if it is not a field or never returned. */
export function printValue(attribute: Attribute, holder: Holder): string | null {
  if (attribute.kind !== 'scalar' || attribute.type === 'password') return null
  const type = attribute.values ? union(attribute.values) : VALUES[attribute.type]
  return isAlwaysThere(attribute, holder) || type === 'unknown' ? type : `${type} | null`
}

/** The type of a populated attribute; null if it cannot be populated. */
export function printEnd(attribute: Attribute): string | null {
  switch (attribute.kind) {
    case 'scalar':
    // `related` of files: documents of any type.
    case 'morph':
      return null
    case 'component':
      return `Part<${quote(attribute.component.uid)}, ${attribute.repeatable}>`
    case 'zone':
      return `Zone<${union(attribute.components.map(({ uid }) => uid))}>`
    default:
      return `Link<${quote(attribute.target.uid)}, ${attribute.many}>`
  }
}

/** The input type of an attribute; null if it is not writable. */
export function printInput(attribute: Attribute): string | null {
  if (attribute.system || attribute.kind === 'morph') return null
  switch (attribute.kind) {
    case 'scalar':
      return printScalarInput(attribute)
    case 'component': {
      const part = `PartInput<${quote(attribute.component.uid)}>`
      return attribute.repeatable ? `readonly ${part}[] | null` : `${part} | null`
    }
    case 'zone':
      return `readonly ZoneInput<${union(attribute.components.map(({ uid }) => uid))}>[] | null`
    default:
      return `LinkInput<${attribute.many}>`
  }
}

function printScalarInput({ type, values }: ScalarAttribute): string {
  const input = values ? union(values) : (INPUTS[type] ?? VALUES[type])
  return input === 'unknown' ? input : `${input} | null`
}

/** Required attributes are optional in drafts, and types with drafts are created as drafts. */
export function isRequiredOnCreate(attribute: Attribute, holder: Holder): boolean {
  if (holder.holder === 'component' || holder.draftAndPublish || !attribute.required) return false
  return attribute.kind !== 'scalar' || (attribute.default === undefined && attribute.generate !== true)
}

const STANDING: ReadonlySet<string> = new Set(['id', 'documentId', 'createdAt', 'updatedAt', 'locale'])

function isAlwaysThere(attribute: ScalarAttribute, holder: Holder): boolean {
  if (attribute.system) return STANDING.has(attribute.name)
  return attribute.required && holder.holder === 'content-type' && !holder.draftAndPublish
}

/** A string literal in single quotes. */
export const quote = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

/** A property name, quoted only if necessary. */
export const printPropertyName = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name)

const union = (words: readonly string[]): string => words.map(quote).join(' | ')

/** The type of a column in rows of Sequelize models. */
export function printColumnType({ type, nullable, attribute }: Column): string {
  const values = attribute?.kind === 'scalar' ? attribute.values : undefined
  const printed = values ? union(values) : COLUMNS[type]
  return nullable && printed !== 'unknown' ? `${printed} | null` : printed
}

/** 64-bit integers and decimals are texts, as the driver returns them. */
const COLUMNS: Readonly<Record<ColumnType, string>> = {
  integer: 'number',
  bigint: 'string',
  'double precision': 'number',
  'numeric(10,2)': 'string',
  boolean: 'boolean',
  'varchar(255)': 'string',
  text: 'string',
  jsonb: 'unknown',
  date: 'string',
  'time(3)': 'string',
  'timestamptz(3)': 'Date',
}

/** Scalar types in documents. */
const VALUES: Readonly<Record<ValueType, string>> = {
  id: 'number',
  documentId: 'string',
  locale: 'string',
  string: 'string',
  text: 'string',
  richtext: 'string',
  enumeration: 'string',
  email: 'string',
  password: 'string',
  uid: 'string',
  date: 'string',
  time: 'string',
  datetime: 'string',
  timestamp: 'string',
  integer: 'number',
  biginteger: 'string',
  float: 'number',
  decimal: 'number',
  boolean: 'boolean',
  json: 'unknown',
  blocks: 'unknown[]',
  array: 'unknown[]',
}

/** Additional input types. */
const INPUTS: { readonly [Type in ValueType]?: string } = {
  biginteger: 'string | number | bigint',
  datetime: 'string | Date',
  timestamp: 'string | Date',
  blocks: 'readonly unknown[]',
  array: 'readonly unknown[]',
}
