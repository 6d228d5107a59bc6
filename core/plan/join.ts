import type { Component, ComponentAttribute, LinkAttribute, RelationAttribute } from '../model/model.ts'
import type { ColumnLink, TableLink } from '../model/storage.ts'
import type { Status, VersionChoice } from '../query/query.ts'
import { allOf, anyOf, binary, column, equal, parameter, sqlConstant } from '../sql/build.ts'
import type { Expression, Order, SqlSource } from '../sql/nodes.ts'
import { componentRow, ownerConstant, type PlanContext, type Row, typeRow } from './row.ts'

/** One step from a row to the rows at the other end of a link, or to its components. */
export interface Join {
  /** What to join; correlated with the row that the step starts from by `where`. */
  readonly from: readonly SqlSource[]
  readonly where: readonly Expression[]
  readonly row: Row
  /** The order in which the rows answer where nothing else is asked. */
  readonly order: readonly Order[]
}

const ascending = (...expressions: readonly Expression[]): readonly Order[] =>
  expressions.map(expression => ({ expression, direction: 'asc' }))

/**
 * Resolves a link to the version that the reader asks for (null: as that of the row): a link alone proves nothing,
 * the resolved row must be there (documents.md 8 and 9). Where the latest version is asked for, each of a document's
 * is among the rows: planScope leaves one.
 */
export function joinLink(
  row: Row,
  attribute: LinkAttribute,
  asked: VersionChoice | null,
  context: PlanContext,
): Join {
  const target = typeRow(attribute.target, context.alias(), asked ?? row.status, context.storage)
  const versions = versionConditions(target, asked === null ? row : null, context)
  if (attribute.kind === 'localizations') return joinOtherLocales(row, target, versions, context)
  if (attribute.kind === 'relation' && attribute.side === 'inverse')
    return joinInverse(row, attribute, target, versions, context)
  const link = context.storage.link(row.holder, attribute.name)
  return link.kind === 'column'
    ? joinColumn(row, link, target, versions, context)
    : joinTable(row, link, target, versions, context)
}

/** The rows of one component attribute of a row. */
export function joinComponent(row: Row, attribute: ComponentAttribute, context: PlanContext): Join {
  return joinOwned(row, attribute, attribute.component, context)
}

/** The rows of one component that an attribute (a component or a dynamic zone) of a row owns. */
export function joinOwned(
  row: Row,
  attribute: { readonly name: string; readonly localized: boolean },
  component: Component,
  context: PlanContext,
): Join {
  const table = context.storage.componentTable(component)
  const owned = componentRow(row, component, context.alias())
  const where = [
    equal(column(owned.alias, table.owner), ownerConstant(row, attribute.name)),
    equal(column(owned.alias, table.ownerKey), row.key),
    equal(column(owned.alias, table.status), row.ownStatus),
  ]
  if (attribute.localized && row.locale) where.push(equal(column(owned.alias, table.locale), row.locale))
  return {
    from: [{ table: table.name, alias: owned.alias, on: null }],
    where,
    row: owned,
    order: ascending(column(owned.alias, table.position), column(owned.alias, table.id)),
  }
}

/** `followed`: the row whose own status counts where the latest version is meant: a draft alone leads to drafts. */
function versionConditions(target: Row, followed: Row | null, context: PlanContext): readonly Expression[] {
  if (context.storage.table(target.root).status === null) return []
  if (target.status !== 'latest') return [hasStatus(target, target.status)]
  return followed ? [anyOf([hasStatus(target, 'published'), hasStatus(followed, 'draft')])] : []
}

/** Of a version of a type with drafts. */
const versionStatus = ({ status, ownStatus }: Row): Expression =>
  status === 'latest' ? ownStatus : sqlConstant(status)

const hasStatus = ({ ownStatus }: Row, status: Status): Expression => equal(ownStatus, sqlConstant(status))

const targetSource = (target: Row, context: PlanContext, on: Expression | null = null): SqlSource => ({
  table: context.storage.table(target.root).name,
  alias: target.alias,
  on,
})

const idOf = (row: Row): Expression => column(row.alias, 'id')

/** A column that names a row by one of its own; what bounds the row's id bounds the column that equals it. */
function equalsRowColumn(own: Expression, { alias, bound }: Row, named: Expression): Expression[] {
  const isId = own.kind === 'column' && own.of === alias && own.name === 'id'
  const same = equal(named, own)
  return bound && isId ? [same, binary(named, bound.operator, bound.value)] : [same]
}

function joinOtherLocales(
  row: Row,
  target: Row,
  versions: readonly Expression[],
  context: PlanContext,
): Join {
  const where = [equal(target.key, row.key), ...versions]
  if (row.locale && target.locale) where.push(binary(target.locale, '<>', row.locale))
  return { from: [targetSource(target, context)], where, row: target, order: ascending(idOf(target)) }
}

/** Where the target has a locale: the source row's own, or the one that the link itself names. */
function localeCondition(row: Row, target: Row, named: Expression | null): readonly Expression[] {
  if (!target.locale) return []
  const wanted = row.locale ?? named
  if (!wanted) throw new TypeError(`a link from ${row.holder.uid} to ${target.root.uid} names no locale`)
  return [equal(target.locale, wanted)]
}

/** A row that has a to-one link, and one that it leads to. */
interface LinkEnds {
  readonly link: ColumnLink
  readonly owner: Row
  readonly target: Row
}

/** Of a link that names its target's version: what a slot says holds for the version of that status. */
function planLinkSlots(
  { link, owner, target }: LinkEnds,
  linked: (slot: Slot) => readonly Expression[],
): readonly Expression[] {
  const published = linked(link)
  const twofold = !owner.root.draftAndPublish && target.root.draftAndPublish && link.draftKey !== null
  if (!twofold || target.status === 'published') return published
  const draft = linked({ key: link.draftKey, locale: link.draftLocale })
  if (target.status === 'draft') return draft
  return [
    anyOf([
      allOf([hasStatus(target, 'published'), ...published]),
      allOf([hasStatus(target, 'draft'), ...draft]),
    ]),
  ]
}

/** The columns of one: types without drafts keep one for the target's draft beside the published one. */
type Slot = Pick<ColumnLink, 'key' | 'locale'>

function joinColumn(
  row: Row,
  link: ColumnLink,
  target: Row,
  versions: readonly Expression[],
  context: PlanContext,
): Join {
  const linked = planLinkSlots({ link, owner: row, target }, ({ key, locale }) => [
    equal(target.key, column(row.alias, key)),
    ...versions,
    ...localeCondition(row, target, locale === null ? null : column(row.alias, locale)),
  ])
  return {
    from: [targetSource(target, context)],
    where: linked,
    row: target,
    order: [],
  }
}

function joinTable(
  row: Row,
  link: TableLink,
  target: Row,
  versions: readonly Expression[],
  context: PlanContext,
): Join {
  const alias = context.alias()
  const where = link.owner.flatMap(([own, owner]) =>
    equalsRowColumn(column(row.alias, owner), row, column(alias, own)),
  )
  if (link.targetStatus !== null && !row.root.draftAndPublish && target.root.draftAndPublish) {
    where.push(equal(column(alias, link.targetStatus), versionStatus(target)))
  }
  const named = link.targetLocale === null ? null : column(alias, link.targetLocale)
  return {
    from: [
      { table: link.table, alias, on: null },
      targetSource(target, context, equal(target.key, column(alias, link.targetKey))),
    ],
    where: [...where, ...versions, ...localeCondition(row, target, named)],
    row: target,
    order: ascending(column(alias, link.position), idOf(target)),
  }
}

/** Backwards: the rows whose own link resolves to this one. */
function joinInverse(
  row: Row,
  attribute: RelationAttribute,
  target: Row,
  versions: readonly Expression[],
  context: PlanContext,
): Join {
  const { counterpart } = attribute
  if (!counterpart) throw new TypeError(`${row.holder.uid}.${attribute.name} is an inverse of nothing`)
  const link = context.storage.link(target.root, counterpart.name)
  const hop =
    link.kind === 'column'
      ? joinInverseColumn(row, link, target, versions, context)
      : joinInverseTable(row, link, target, versions, context)
  return attribute.many || row.locale || !target.locale
    ? hop
    : { ...hop, order: preferLocale(target.locale, hop.order, context) }
}

function joinInverseColumn(
  row: Row,
  link: ColumnLink,
  target: Row,
  versions: readonly Expression[],
  context: PlanContext,
): Join {
  const linked = planLinkSlots({ link, owner: target, target: row }, ({ key, locale }) => [
    ...equalsRowColumn(row.key, row, column(target.alias, key)),
    ...versions,
    ...inverseLocale(row, target, locale === null ? null : column(target.alias, locale)),
  ])
  const order = link.inversePosition === null ? [] : [column(target.alias, link.inversePosition)]
  return {
    from: [targetSource(target, context)],
    where: linked,
    row: target,
    order: ascending(...order, idOf(target)),
  }
}

function joinInverseTable(
  row: Row,
  link: TableLink,
  target: Row,
  versions: readonly Expression[],
  context: PlanContext,
): Join {
  const alias = context.alias()
  const joined = link.owner.map(([own, owner]) => equal(column(target.alias, owner), column(alias, own)))
  const where = equalsRowColumn(row.key, row, column(alias, link.targetKey))
  if (link.targetStatus !== null && row.root.draftAndPublish && !target.root.draftAndPublish) {
    where.push(equal(column(alias, link.targetStatus), versionStatus(row)))
  }
  const named = link.targetLocale === null ? null : column(alias, link.targetLocale)
  const order = link.inversePosition === null ? [] : [column(alias, link.inversePosition)]
  return {
    from: [
      { table: link.table, alias, on: null },
      targetSource(target, context, { kind: 'logic', operator: 'and', terms: joined }),
    ],
    where: [...where, ...versions, ...inverseLocale(row, target, named)],
    row: target,
    order: ascending(...order, idOf(target)),
  }
}

/** From an unlocalised side all locales show as separate entries (documents.md 9). */
function inverseLocale(row: Row, target: Row, named: Expression | null): readonly Expression[] {
  if (!row.locale) return []
  const own = target.locale ?? named
  return own ? [equal(own, row.locale)] : []
}

function preferLocale(locale: Expression, order: readonly Order[], context: PlanContext): readonly Order[] {
  const preferred = [context.locale, context.defaultLocale].map(
    (code): Order => ({
      expression: binary(locale, '=', parameter(code, 'text')),
      direction: 'desc',
    }),
  )
  return [...preferred, ...order]
}
