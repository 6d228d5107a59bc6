import type { Attribute, Holder, ScalarAttribute, ValueType } from '../../../core/model/model.ts'

/** The type of a value as documents have it; null where it is no field, or never answered. */
export function printValue(attribute: Attribute, holder: Holder): string | null {
  if (attribute.kind !== 'scalar' || attribute.type === 'password') return null
  const type = attribute.values ? union(attribute.values) : VALUES[attribute.type]
  return isAlwaysThere(attribute, holder) || type === 'unknown' ? type : `${type} | null`
}

/** Of what it answers where it is populated; null where it cannot be. */
export function printEnd(attribute: Attribute): string | null {
  switch (attribute.kind) {
    case 'scalar':
      return null
    case 'component':
      return `Part<${quote(attribute.component.uid)}, ${attribute.repeatable}>`
    case 'zone':
      return `Zone<${union(attribute.components.map(({ uid }) => uid))}>`
    default:
      return `Link<${quote(attribute.target.uid)}, ${attribute.many}>`
  }
}

/** The type of what a write may say; null where nobody writes it. */
export function printInput(attribute: Attribute): string | null {
  if (attribute.system) return null
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

/** A draft may lack anything, and what has drafts is written as one first. */
export function isRequiredOnCreate(attribute: Attribute, holder: Holder): boolean {
  if (holder.holder === 'component' || holder.draftAndPublish || !attribute.required) return false
  return attribute.kind !== 'scalar' || (attribute.default === undefined && attribute.generate !== true)
}

const STANDING: ReadonlySet<string> = new Set(['id', 'documentId', 'createdAt', 'updatedAt', 'locale'])

function isAlwaysThere(attribute: ScalarAttribute, holder: Holder): boolean {
  if (attribute.system) return STANDING.has(attribute.name)
  return attribute.required && holder.holder === 'content-type' && !holder.draftAndPublish
}

/** As TypeScript is written here: single quotes. */
export const quote = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

/** A name of a property: in quotes only where it needs them. */
export const keyOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name))

const union = (words: readonly string[]): string => words.map(quote).join(' | ')

/** As documents have them. */
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

/** What writes take beside what documents have. */
const INPUTS: { readonly [Type in ValueType]?: string } = {
  biginteger: 'string | number | bigint',
  datetime: 'string | Date',
  timestamp: 'string | Date',
  blocks: 'readonly unknown[]',
  array: 'readonly unknown[]',
}
