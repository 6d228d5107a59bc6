import {
  type Attribute,
  type ComponentAttribute,
  type ContentType,
  componentsOf,
  type ZoneAttribute,
} from '../../model/model.ts'
import { ownerName, type Storage } from '../../model/storage.ts'
import type { Status } from '../../query/query.ts'
import { quoteIdentifier as ident, quoteText } from '../../sql/identifier.ts'
import { and, columnOf, insertInto } from '../links/inverse-sql.ts'
import { targetColumns } from '../links/own-list-sql.ts'
import { isTableLinked, tableLinkOf } from '../rows/write-load.ts'
import { inValuesOf } from '../sql/look-ups.ts'
import { columnsOf } from '../sql/write-print.ts'
import { type ComponentLevel, hasFewComponents, levelsOf, type NamedPart } from './stored-components.ts'
import { isCoveredByStoredRule, storedRule } from './stored-rules.ts'

/** The components of a draft in `stored$` that publishing leaves as they are. */
export interface LeftComponents {
  readonly type: ContentType
  /** null: on types without locales. */
  readonly locale: string | null
  readonly attributes: readonly Attribute[]
}

/** True if SQL can check and copy all that the attribute holds. A unique value needs the check before the write. */
export const canPublishComponents = (type: ContentType, attribute: Attribute): boolean =>
  componentsOf(attribute).length > 0 &&
  hasFewComponents(type) &&
  [...levelsOf(type, attribute)].every(({ component }) =>
    [...component.attributes.values()].every(
      each => isCoveredByStoredRule(each) && (each.kind !== 'scalar' || !each.unique),
    ),
  )

/** `FROM` and `WHERE` of the rows of a level under the alias `c`, in the statuses. */
function rowsOf(
  level: ComponentLevel,
  statuses: readonly Status[],
  { type, locale }: Omit<LeftComponents, 'attributes'>,
  storage: Storage,
): string {
  const table = storage.componentTable(level.component)
  const column = (name: string) => columnOf('c', name)
  const status = `${column(table.status)} IN (${statuses.map(quoteText).join(', ')})`
  const own = level.above
    ? inValuesOf(
        column(table.ownerKey),
        `SELECT c.id ${rowsOf(level.above, statuses, { type, locale }, storage)}`,
      )
    : and(
        `${column(table.ownerKey)} = (SELECT ${columnOf('s', storage.table(type).key)} FROM stored$ s)`,
        `${column(table.locale)} ${locale === null ? 'IS NULL' : `= ${quoteText(locale)}`}`,
      )
  return `FROM ${ident(table.name)} c WHERE ${and(`${column(table.owner)} = ${quoteText(level.owner)}`, own, status)}`
}

const BOTH = ['draft', 'published'] as const

/** Conditions: the components may be published and, for a document that is published, are those of its published version. */
export function printComponentAssertions(
  left: LeftComponents,
  { isPublished, storage }: { readonly isPublished: boolean; readonly storage: Storage },
): readonly string[] {
  const { type, locale, attributes } = left
  const statuses = isPublished ? BOTH : (['draft'] as const)
  const levels = attributes.flatMap(each => [...levelsOf(type, each)])
  const among = locale === null ? 'IS NULL' : `= ${quoteText(locale)}`
  const draft = `n.status = 'draft' AND n.locale ${among}`
  const key = `(SELECT ${columnOf('s', storage.table(type).key)} FROM stored$ s)`
  return [
    ...attributes.flatMap(each =>
      isItemed(each) ? countRule(each, ownerName(type, each.name), { key, where: draft }, storage) : [],
    ),
    ...levels.flatMap(level => {
      const rows = rowsOf(level, statuses, left, storage)
      const rules = rulesOf(level, storage)
      const isBroken = rules.length > 0 && `NOT coalesce(bool_and(${and(...rules)}), true)`
      const { name, status } = storage.componentTable(level.component)
      const columns = [...columnsOf(storage, name).keys()].filter(each => each !== status)
      const compared = columns.map(each => columnOf('c', each)).join(', ')
      const having = [isPublished && 'count(*) <> 2', isBroken].filter(each => each !== false)
      return [
        ...(having.length === 0
          ? []
          : [`NOT EXISTS (SELECT ${rows} GROUP BY ${compared} HAVING ${having.join(' OR ')})`]),
        ...(isPublished ? linksAreAlike(level, rows, storage) : []),
      ]
    }),
  ]
}

const isItemed = (attribute: Attribute): attribute is ComponentAttribute | ZoneAttribute =>
  attribute.kind === 'component' || attribute.kind === 'zone'

/** The rules of a row `c`, as values/check-values.ts has them. */
function rulesOf({ component }: ComponentLevel, storage: Storage): readonly string[] {
  return [...component.attributes.values()].flatMap(attribute => {
    if (isItemed(attribute)) {
      const within = { key: 'c.id', where: 'n.status = c.status' }
      return countRule(attribute, ownerName(component, attribute.name), within, storage)
    }
    const rule = storedRule(component, attribute, { alias: 'c', storage })
    return rule === false ? [] : [rule]
  })
}

/** How many components there have to be. */
function countRule(
  attribute: ComponentAttribute | ZoneAttribute,
  owner: string,
  { key, where }: { readonly key: string; readonly where: string },
  storage: Storage,
): readonly string[] {
  const isSingle = attribute.kind === 'component' && !attribute.repeatable
  const least = isSingle ? (attribute.required ? 1 : 0) : (attribute.min ?? 0)
  if (least === 0) return []
  const counts = componentsOf(attribute).map(
    each =>
      `(SELECT count(*) FROM ${ident(storage.componentTable(each).name)} n WHERE n.owner = ${quoteText(owner)} AND n.owner_key = ${key} AND ${where})`,
  )
  const count = counts.join(' + ')
  return [attribute.required ? `${count} >= ${least}` : `${count} NOT BETWEEN 1 AND ${least - 1}`]
}

/** Draft and published components have the same links at the same places. */
const linksAreAlike = (level: ComponentLevel, rows: string, storage: Storage): readonly string[] =>
  [...level.component.attributes.values()].filter(isTableLinked).map(attribute => {
    const link = tableLinkOf(level.component, attribute.name, { storage })
    const columns = [...ownerColumns(link, 'id'), ...targetColumns(link), link.position]
    const [id = ''] = ownerColumns(link, 'id')
    const compared = columns.map(each => columnOf('l', each)).join(', ')
    return `NOT EXISTS (SELECT FROM ${ident(link.table)} l WHERE ${inValuesOf(columnOf('l', id), `SELECT c.id ${rows}`)} GROUP BY ${compared} HAVING count(*) <> 2)`
  })

const ownerColumns = (link: ReturnType<typeof tableLinkOf>, own: string): readonly string[] =>
  link.owner.flatMap(([column, of]) => (of === own ? [column] : []))

/** Copies the components of a draft, with their links, to a new published version. */
export function printCopiedComponents(left: LeftComponents, storage: Storage): readonly NamedPart[] {
  const levels = left.attributes.flatMap(each => [...levelsOf(left.type, each)])
  return levels.flatMap((level, index): readonly NamedPart[] => {
    const { name, status } = storage.componentTable(level.component)
    const rows = rowsOf(level, ['draft'], left, storage)
    const columns = [...columnsOf(storage, name).keys()].map(
      column => [column, column === status ? `'published'` : columnOf('c', column)] as const,
    )
    const lists = [...level.component.attributes.values()].filter(isTableLinked)
    return [
      [`published_parts${index}$`, `${insertInto(name, columns)} ${rows}`],
      ...lists.map((attribute, at): NamedPart => {
        const link = tableLinkOf(level.component, attribute.name, { storage })
        const [id = ''] = ownerColumns(link, 'id')
        const statuses = ownerColumns(link, 'status')
        const copied = [id, ...targetColumns(link), link.position]
        const all = [
          ...copied.map(column => [column, columnOf('l', column)] as const),
          ...statuses.map(column => [column, `'published'`] as const),
        ]
        const where = and(
          inValuesOf(columnOf('l', id), `SELECT c.id ${rows}`),
          ...statuses.map(column => `${columnOf('l', column)} = 'draft'`),
        )
        return [
          `published_links${index}_${at}$`,
          `${insertInto(link.table, all)} FROM ${ident(link.table)} l WHERE ${where} ORDER BY ${columnOf('l', link.position)}, l.id`,
        ]
      }),
    ]
  })
}
