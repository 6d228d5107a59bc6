import { fitsIndex } from '../../model/columns.ts'
import type { Attribute, ContentType, ScalarAttribute } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import { quoteIdentifier as ident, quoteText } from '../../sql/identifier.ts'
import { and, columnOf } from '../links/inverse-sql.ts'
import { targetColumnsOf } from '../rows/write-links.ts'
import { componentsOf, isTableLinked } from '../rows/write-load.ts'

/** The columns of a type's own table that store an attribute. */
export interface AttributeColumns {
  readonly values: readonly string[]
  /** The place in the list of the other side, which belongs to the link in `values`. */
  readonly place: string | null
}

export function columnsOfAttribute(
  type: ContentType,
  attribute: Attribute,
  storage: Storage,
): AttributeColumns | undefined {
  if (attribute.system) return undefined
  if (attribute.kind === 'scalar') return { values: [storage.column(type, attribute.name)], place: null }
  if (attribute.kind !== 'media' && (attribute.kind !== 'relation' || attribute.side === 'inverse'))
    return undefined
  const link = storage.link(type, attribute.name)
  if (link.kind === 'table') return undefined
  return { values: targetColumnsOf(link), place: link.inversePosition }
}

/** True if SQL can change the attribute to given values without knowing the stored ones. */
export const isPlainlyWritten = (attribute: Attribute): boolean =>
  componentsOf(attribute).length === 0 &&
  (attribute.kind !== 'relation' || (attribute.side === 'owner' && !isExclusive(attribute)))

/** True if SQL can copy the attribute from a draft to a published row. Indexes have to hold its unique values apart. */
export const isPlainlyCopied = (attribute: Attribute): boolean =>
  isPlainlyWritten(attribute) && (attribute.kind !== 'scalar' || !attribute.unique || fitsIndex(attribute))

/** A new owner takes such a link from the former one. */
const isExclusive = ({ relation, counterpart }: Extract<Attribute, { readonly kind: 'relation' }>): boolean =>
  relation === 'oneToOne' && counterpart !== null

/** True if `storedRule` is at least as strict as the check of a value that is published (values/check-values.ts). */
export const hasStoredRule = (attribute: Attribute): boolean =>
  attribute.kind !== 'scalar' || (!attribute.regex && !['email', 'password'].includes(attribute.type))

/** A condition on the row `alias`: the attribute holds what a published version may hold. `false`: none is needed. */
export function storedRule(
  type: ContentType,
  attribute: Attribute,
  { alias, storage }: { readonly alias: string; readonly storage: Storage },
): string | false {
  if (attribute.system || !attribute.writable) return false
  const [column] = columnsOfAttribute(type, attribute, storage)?.values ?? []
  if (column === undefined)
    return attribute.required && isTableLinked(attribute) && hasLink(type, attribute, storage, alias)
  const value = columnOf(alias, column)
  const rules = attribute.kind === 'scalar' ? valueRules(attribute, value) : []
  const rule =
    rules.length > 0 && (attribute.required ? and(...rules) : `(${value} IS NULL OR ${and(...rules)})`)
  return (attribute.required || rule !== false) && and(attribute.required && `${value} IS NOT NULL`, rule)
}

function hasLink(type: ContentType, { name }: Attribute, storage: Storage, alias: string): string {
  const link = storage.link(type, name)
  if (link.kind === 'column') throw new TypeError(`${type.uid}.${name} has no table of its own`)
  return `EXISTS (SELECT FROM ${ident(link.table)} l WHERE l.owner_id = ${alias}.id)`
}

function valueRules(attribute: ScalarAttribute, value: string): readonly string[] {
  const { type, min, max, minLength, maxLength } = attribute
  const limit = (sign: string, each: number | string | undefined) =>
    each !== undefined && `${value}::numeric ${sign} ${quoteText(String(each))}::numeric`
  return [
    minLength !== undefined && `char_length(${value}) >= ${minLength}`,
    maxLength !== undefined && `${longest(value)} <= ${maxLength}`,
    type === 'uid' && `${value} ~ '^[A-Za-z0-9_.~-]*$'`,
    limit('>=', min),
    limit('<=', max),
  ].filter(each => each !== false)
}

/** No text is longer in JavaScript, where a character that takes four bytes in UTF-8 counts twice. */
const longest = (value: string): string =>
  `char_length(${value}) + (octet_length(${value}) - char_length(${value})) / 3`
