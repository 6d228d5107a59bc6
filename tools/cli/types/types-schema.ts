import type { Attribute, Holder, ScalarAttribute, ValueType } from '../../../core/model/model.ts'
import type { Column, ColumnType } from '../../../core/model/storage.ts'

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
      return null
    case 'morph':
      return 'Morph'
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
  tsvector: 'string',
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
