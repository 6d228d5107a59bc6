import type { ContentType, RelationAttribute } from '../../model/model.ts'
import type { ColumnLink, LinkStorage, Storage, TypeTable } from '../../model/storage.ts'
import type { Status } from '../../query/query.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import { slotOf } from '../rows/write-links.ts'
import { filter, inOrder, lookUp } from '../sql/look-ups.ts'

/** A two-way relation as statements of its inverse side need it: the owner's rows store the links. */
export interface InverseRelation {
  readonly attribute: RelationAttribute
  /** The type of the inverse side. */
  readonly type: ContentType
  readonly owner: ContentType
  readonly table: TypeTable
  readonly link: LinkStorage
  /** A link is to the status of its owner's row. */
  readonly sharesStatus: boolean
  /** A link is to the locale of its owner's row. */
  readonly sharesLocale: boolean
  /** Only owners have statuses: each link names the status of its owner. */
  readonly choosesStatus: boolean
  readonly choosesLocale: boolean
  /** Only the inverse side has statuses: links say which they lead to. */
  readonly namesStatus: boolean
  readonly namesLocale: boolean
}

export function inverseRelation(
  type: ContentType,
  attribute: RelationAttribute,
  storage: Storage,
): InverseRelation {
  const { counterpart, target: owner } = attribute
  if (!counterpart) throw new TypeError(`${attribute.name} is an inverse of nothing`)
  return {
    attribute,
    type,
    owner,
    table: storage.table(owner),
    link: storage.link(owner, counterpart.name),
    sharesStatus: owner.draftAndPublish && type.draftAndPublish,
    sharesLocale: owner.localized && type.localized,
    choosesStatus: owner.draftAndPublish && !type.draftAndPublish,
    choosesLocale: owner.localized && !type.localized,
    namesStatus: !owner.draftAndPublish && type.draftAndPublish,
    namesLocale: !owner.localized && type.localized,
  }
}

/** Parameters of a statement, in order. */
export class Parameters {
  readonly values: unknown[] = []

  put(value: unknown, type: string): string {
    return `$${this.values.push(value)}::${type}`
  }

  /** Put once it is asked for: PostgreSQL refuses parameters that a statement does not use. */
  late(value: unknown, type: string): () => string {
    let place: string | undefined
    return () => {
      place ??= this.put(value, type)
      return place
    }
  }

  anyOf(values: readonly string[]): () => string {
    const list = this.late(values, 'text[]')
    return () => `ANY (${list()})`
  }
}

export const and = (...conditions: readonly (string | false)[]): string =>
  conditions.filter(each => each !== false).join(' AND ')

/** The columns of a relation's own table under an alias. */
export const columnOf = (alias: string, of: string): string => `${alias}.${ident(of)}`

/** An insertion of selected values, up to its FROM. */
export const insertInto = (table: string, columns: readonly (readonly [string, string])[]): string =>
  `INSERT INTO ${ident(table)} (${columns.map(([column]) => ident(column)).join(', ')}) SELECT ${columns.map(([, value]) => value).join(', ')}`

/** Expressions for the document that links lead to, and its locale. */
export interface EndOptions {
  readonly target: string
  readonly locale: string
}

/** The end of an alias that has the columns target and target_locale. */
export const endIn = (alias: string): EndOptions => ({
  target: `${alias}.target`,
  locale: `${alias}.target_locale`,
})

/** The right side of the comparison of a status: `= …`. */
export interface ReachOptions {
  readonly end: EndOptions
  readonly statuses: () => string
}

/** Rows of an owner that a write of these statuses reaches. */
export function reached(
  { table, sharesStatus, sharesLocale }: InverseRelation,
  alias: string,
  { end, statuses }: ReachOptions,
): readonly string[] {
  return [
    ...(sharesStatus && table.status ? [filter(`${columnOf(alias, table.status)} = ${statuses()}`)] : []),
    ...(sharesLocale && table.locale ? [filter(`${columnOf(alias, table.locale)} = ${end.locale}`)] : []),
  ]
}

/** Rows of the owner that an entry names, found by their key. */
export function named(
  { table, choosesStatus, choosesLocale }: InverseRelation,
  alias: string,
  entry: string,
): readonly string[] {
  return [
    ...inOrder([[columnOf(alias, table.key), `${entry}.key`]]),
    ...(choosesStatus && table.status ? [filter(`${columnOf(alias, table.status)} = ${entry}.status`)] : []),
    ...(choosesLocale && table.locale ? [filter(`${columnOf(alias, table.locale)} = ${entry}.locale`)] : []),
  ]
}

/** A slot of a to-one link: where it lies, and what it has to hold to lead to an end. */
export interface LinkSlot {
  readonly key: string
  readonly locale: string | null
}

export const slotsOf = (
  { namesStatus }: InverseRelation,
  link: ColumnLink,
  statuses: readonly Status[],
): readonly LinkSlot[] => (namesStatus ? statuses.map(status => slotOf(link, status)) : [slotOf(link, null)])

export const inSlot = ({ key, locale }: LinkSlot, alias: string, end: EndOptions): string =>
  and(
    `${columnOf(alias, key)} = ${end.target}`,
    locale !== null && `${columnOf(alias, locale)} = ${end.locale}`,
  )

/** Condition: a row of a link table links to an end, in one of the statuses. */
export function inTable(relation: InverseRelation, alias: string, reach: ReachOptions): string {
  const { link } = relation
  if (link.kind !== 'table') throw new TypeError('the links lie in columns')
  return and(
    `${columnOf(alias, link.targetKey)} = ${reach.end.target}`,
    ...whichTarget(relation, alias, reach),
  )
}

/** The status and the locale that links of a table name. */
function whichTarget(
  { link, namesStatus }: InverseRelation,
  alias: string,
  { end, statuses }: ReachOptions,
): readonly string[] {
  if (link.kind !== 'table') throw new TypeError('the links lie in columns')
  const { targetStatus, targetLocale } = link
  return [
    ...(namesStatus && targetStatus !== null ? [`${columnOf(alias, targetStatus)} = ${statuses()}`] : []),
    ...(targetLocale === null ? [] : [`${columnOf(alias, targetLocale)} = ${end.locale}`]),
  ]
}

/** That a row of the link table is one of an owner's row, which is looked up. */
export function ownedBy({ link }: InverseRelation, alias: string, owner: string): string {
  if (link.kind !== 'table') throw new TypeError('the links lie in columns')
  return and(
    ...inOrder(link.owner.map(([column, own]) => [columnOf(owner, own), columnOf(alias, column)] as const)),
  )
}

/** `FROM` the links `l` that meet a condition, and the owners' rows `x` that they are of. The links come first, however many are expected. */
export function linkedRows(relation: InverseRelation, condition: string): string {
  const { link, table } = relation
  if (link.kind !== 'table') throw new TypeError('the links lie in columns')
  const links = `(SELECT * FROM ${ident(link.table)} l WHERE ${condition} OFFSET 0) l`
  return `${links}, ${lookUp(table.name, 'x', ownedBy(relation, 'l', 'x'))}`
}

/** Both: the row is a link of an owner's row, and leads to an end. The owner's index finds it. */
export function ownedTo(
  relation: InverseRelation,
  alias: string,
  owner: string,
  reach: ReachOptions,
): string {
  const { link } = relation
  if (link.kind !== 'table') throw new TypeError('the links lie in columns')
  const owned = link.owner.map(([column, own]) => [columnOf(alias, column), columnOf(owner, own)] as const)
  const leads = [columnOf(alias, link.targetKey), reach.end.target] as const
  return and(...inOrder([...owned, leads]), ...whichTarget(relation, alias, reach))
}

/** The key of the document that a write is from, and the locale that its links have or share; null: none. */
export interface InverseEnd {
  readonly key: number
  readonly locale: string | null
}

/** `target` and `target_locale` of every end. */
export const printEnds = (ends: readonly InverseEnd[], parameters: Parameters): string =>
  `unnest(${parameters.put(
    ends.map(({ key }) => key),
    'integer[]',
  )}, ${parameters.put(
    ends.map(({ locale }) => locale),
    'text[]',
  )}) AS d (target, target_locale)`

/** The parameters of one end. */
export function endOf({ key, locale }: InverseEnd, parameters: Parameters): EndOptions {
  const code = parameters.late(locale, 'text')
  return {
    target: parameters.put(key, 'integer'),
    get locale() {
      return code()
    },
  }
}
