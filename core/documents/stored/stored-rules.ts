import { fitsIndex } from '../../model/columns.ts'
import {
  type Attribute,
  componentsOf,
  type Holder,
  type MediaAttribute,
  type RelationAttribute,
  type ScalarAttribute,
} from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import { quoteIdentifier as ident, quoteText } from '../../sql/identifier.ts'
import { and, columnOf } from '../links/inverse-sql.ts'
import { targetColumnsOf } from '../rows/write-links.ts'
import { isTableLinked, tableLinkOf } from '../rows/write-load.ts'

/** The columns of a holder's own table that store an attribute. */
export interface AttributeColumns {
  readonly values: readonly string[]
  /** The column with the position of the link in the list of the inverse side; null: there is no such list. */
  readonly inversePosition: string | null
}

/** undefined: a system attribute, or an attribute that is stored in other tables. */
export function columnsOfAttribute(
  holder: Holder,
  attribute: Attribute,
  storage: Storage,
): AttributeColumns | undefined {
  if (attribute.system) return undefined
  if (attribute.kind === 'scalar')
    return { values: [storage.column(holder, attribute.name)], inversePosition: null }
  if (attribute.kind !== 'media' && (attribute.kind !== 'relation' || attribute.side === 'inverse'))
    return undefined
  const link = storage.link(holder, attribute.name)
  if (link.kind === 'table') return undefined
  return { values: targetColumnsOf(link), inversePosition: link.inversePosition }
}

type ListAttribute = RelationAttribute | MediaAttribute

export const isList = (attribute: Attribute): attribute is ListAttribute => isTableLinked(attribute)

/** True if one statement can write given values without reading the stored ones: not components, inverse sides and exclusive links. */
export const canWriteWithoutRead = (attribute: Attribute): boolean =>
  componentsOf(attribute).length === 0 &&
  (attribute.kind !== 'relation' || (attribute.side === 'owner' && !isExclusive(attribute)))

/** True if SQL can copy the attribute from a draft to a published row. A unique value needs an index that refuses duplicates. */
export const canCopyInDatabase = (attribute: Attribute): boolean =>
  canWriteWithoutRead(attribute) && (attribute.kind !== 'scalar' || !attribute.unique || fitsIndex(attribute))

/** Setting such a link also removes it from its former owner. */
const isExclusive = ({ relation, counterpart }: Extract<Attribute, { readonly kind: 'relation' }>): boolean =>
  relation === 'oneToOne' && counterpart !== null

/** True if `storedRule` is at least as strict as the check of published values (values/check-values.ts). */
export const isCoveredByStoredRule = (attribute: Attribute): boolean =>
  attribute.kind !== 'scalar' || (!attribute.regex && !['email', 'password'].includes(attribute.type))

/** SQL that is true if the row `alias` has a value of the attribute that may be published. `false`: every value may be. */
export function storedRule(
  holder: Holder,
  attribute: Attribute,
  { alias, storage }: { readonly alias: string; readonly storage: Storage },
): string | false {
  if (attribute.system) return false
  const [column] = columnsOfAttribute(holder, attribute, storage)?.values ?? []
  if (column === undefined)
    return attribute.required && isTableLinked(attribute) && hasLink(holder, attribute, storage, alias)
  const value = columnOf(alias, column)
  const rules = attribute.kind === 'scalar' ? valueRules(attribute, value) : []
  const rule =
    rules.length > 0 && (attribute.required ? and(...rules) : `(${value} IS NULL OR ${and(...rules)})`)
  return (attribute.required || rule !== false) && and(attribute.required && `${value} IS NOT NULL`, rule)
}

function hasLink(holder: Holder, { name }: Attribute, storage: Storage, alias: string): string {
  const link = tableLinkOf(holder, name, { storage })
  const isOwner = link.owner.map(([column, own]) => `${columnOf('l', column)} = ${columnOf(alias, own)}`)
  return `EXISTS (SELECT FROM ${ident(link.table)} l WHERE ${and(...isOwner)})`
}

function valueRules(attribute: ScalarAttribute, value: string): readonly string[] {
  const { type, min, max, minLength, maxLength } = attribute
  const limit = (sign: string, each: number | string | undefined) =>
    each !== undefined && `${value}::numeric ${sign} ${quoteText(String(each))}::numeric`
  return [
    minLength !== undefined && `char_length(${value}) >= ${minLength}`,
    maxLength !== undefined && `${maxScriptLength(value)} <= ${maxLength}`,
    type === 'uid' && `${value} ~ '^[A-Za-z0-9_.~-]*$'`,
    limit('>=', min),
    limit('<=', max),
  ].filter(each => each !== false)
}

/** An upper bound of the text's length in JavaScript, where a character of four bytes in UTF-8 counts twice. */
const maxScriptLength = (value: string): string =>
  `char_length(${value}) + (octet_length(${value}) - char_length(${value})) / 3`
