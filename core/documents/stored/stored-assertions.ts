import { type Attribute, type ContentType, componentsOf } from '../../model/model.ts'
import type { TableLink } from '../../model/storage.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import { and, columnOf } from '../links/inverse-sql.ts'
import { targetColumns } from '../links/own-list-sql.ts'
import { isShared } from '../rows/planning.ts'
import { tableLinkOf } from '../rows/write-load.ts'
import { inValuesOf } from '../sql/look-ups.ts'
import { type LeftComponents, printComponentAssertions } from './published-components.ts'
import { columnsOfAttribute, isList, storedRule } from './stored-rules.ts'
import type { Printing, StoredUpdate, StoredUpdateOptions } from './stored-update.ts'

/** A condition that is false if the stored rows are not what the statement was printed for. */
export function printAssertions(
  { document, publication, isUnpublished, edited, ruled, filled }: StoredUpdate,
  { type, version, options, parameters }: Printing,
): string {
  const rules = ruled.map(each => storedRule(type, each, { alias: 's', storage: options.storage }))
  const where = and(...rules, ...filled.map(each => `${columnOf('s', each)} <> ''`))
  const isLeft = (each: Attribute) =>
    isList(each) && !isShared(type, each) && !version.values.has(each.name) && !edited.includes(each)
  const isPublished = publication === 'both' || publication === 'copied'
  const alike = isPublished
    ? [...type.attributes.values()]
        .filter(isLeft)
        .map(each => listsAreAlike(tableLinkOf(document.type, each.name, options)))
    : []
  return and(
    `(SELECT count(*) FROM stored$ s${where === '' ? '' : ` WHERE ${where}`}) = 1`,
    publication !== 'none' && publication !== 'both' && '(SELECT count(*) FROM published$) = 1',
    publication === 'both' && valuesAreAlike({ type, version }, options),
    isUnpublished && hasNoPublished(type, options),
    publication !== 'none' && type.localized && sharedAreAlike(type, options),
    ...alike,
    ...(publication === 'none'
      ? []
      : printComponentAssertions(leftComponents({ type, version }), {
          isPublished,
          storage: options.storage,
        })),
    options.assertion ? options.assertion.print(options.assertion.values, parameters.values) : false,
  )
}

/** The components that the update leaves as they are. */
export const leftComponents = ({ type, version }: Pick<Printing, 'type' | 'version'>): LeftComponents => ({
  type,
  locale: version.locale,
  attributes: [...type.attributes.values()].filter(
    each => componentsOf(each).length > 0 && !version.values.has(each.name),
  ),
})

function hasNoPublished(type: ContentType, { storage }: StoredUpdateOptions): string {
  const { name, key, locale } = storage.table(type)
  const same = [key, ...(locale === null ? [] : [locale])].map(
    each => `${columnOf('o', each)} = ${columnOf('s', each)}`,
  )
  return `NOT EXISTS (SELECT FROM ${ident(name)} o, stored$ s WHERE ${and(...same, `o.status = 'published'`)})`
}

/** No status or locale has other shared values than the draft. */
function sharedAreAlike(type: ContentType, { storage }: StoredUpdateOptions): string {
  const { name, key } = storage.table(type)
  return `NOT EXISTS (SELECT FROM ${ident(name)} o, stored$ s WHERE ${columnOf('o', key)} = ${columnOf('s', key)} AND o.shared_updated_at IS DISTINCT FROM s.shared_updated_at)`
}

/** There is a published row with the values of the draft. Their bytes are compared, as `=` finds 1 and 1.0 alike. */
function valuesAreAlike(
  { type, version }: Pick<Printing, 'type' | 'version'>,
  { storage }: StoredUpdateOptions,
): string {
  const left = [...type.attributes.values()]
    .filter(each => !version.values.has(each.name))
    .flatMap(each => columnsOfAttribute(type, each, storage)?.values ?? [])
  const row = (alias: string) => `ROW(${left.map(each => columnOf(alias, each)).join(', ')})::record`
  return `(SELECT ${row('s')} *= ${row('p')} FROM stored$ s, published$ p)`
}

/** Draft and published row have the same links at the same places. */
function listsAreAlike(link: TableLink): string {
  const columns = [...targetColumns(link), link.position].map(each => columnOf('l', each)).join(', ')
  return `NOT EXISTS (SELECT FROM ${ident(link.table)} l WHERE ${inValuesOf('l.owner_id', 'SELECT id FROM rows$')} GROUP BY ${columns} HAVING count(*) <> 2)`
}
