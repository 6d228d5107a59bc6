import type { MediaSource } from '../model/media-sources.ts'
import type { Component, ComponentAttribute, LinkAttribute, RelationAttribute } from '../model/model.ts'
import type { ColumnLink, TableLink } from '../model/storage.ts'
import type { Status, VersionChoice } from '../query/query.ts'
import { allOf, anyOf, binary, column, equal, parameter, sqlConstant } from '../sql/build.ts'
import type { Expression, Order, SqlSource } from '../sql/nodes.ts'
import { componentRow, ownerConstant, type PlanContext, type Row, typeRow } from './row.ts'

/** A join from a row to the target rows of a link, or to its components. */
export interface Join {
  /** The sources to join; `where` correlates them with the row that the join starts from. */
  readonly from: readonly SqlSource[]
  readonly where: readonly Expression[]
  readonly row: Row
  /** The default order of the rows. */
  readonly order: readonly Order[]
}

const ascending = (...expressions: readonly Expression[]): readonly Order[] =>
  expressions.map(expression => ({ expression, direction: 'asc' }))

/** How the rows of a link are found. */
interface JoinContext extends PlanContext {
  /**
   * Looked up by keys, for each row. Otherwise PostgreSQL chooses an order by its statistics, and without any it would begin with all
   * rows of the target's table.
   */
  readonly looksUp: boolean
}

/** Resolves a link like joinLink for a condition that some related row fulfils: PostgreSQL may begin with any of its tables. */
export const joinTested = (
  row: Row,
  attribute: LinkAttribute,
  asked: VersionChoice | null,
  context: PlanContext,
): Join => resolveLink(row, attribute, asked, { ...context, looksUp: false })

/**
 * Resolves a link to the requested version (null: the version of the row). A link does not prove that its target
 * exists: the resolved row must exist (reference/documents.md#8-reading, reference/documents.md#9-inverse-side). For `latest` the rows contain all versions of a document;
 * planScope keeps one of them.
 */
export const joinLink = (
  row: Row,
  attribute: LinkAttribute,
  asked: VersionChoice | null,
  context: PlanContext,
): Join => resolveLink(row, attribute, asked, { ...context, looksUp: true })

function resolveLink(
  row: Row,
  attribute: LinkAttribute,
  asked: VersionChoice | null,
  context: JoinContext,
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

/** The rows of one way to a file: the documents that have it, or their components that have it. */
export function joinSource(
  file: Row,
  { root, steps, media }: MediaSource,
  asked: Status | null,
  context: PlanContext,
): Join & { readonly document: Row } {
  const document = typeRow(root, context.alias(), asked ?? file.status, context.storage)
  const from: SqlSource[] = [targetSource(document, context)]
  const where: Expression[] = [
    ...versionConditions(document, asked === null ? file : null, { ...context, looksUp: false }),
  ]
  let row = document
  for (const { attribute, component } of steps) {
    const owned = joinOwned(row, attribute, component, context)
    from.push(...owned.from)
    where.push(...owned.where)
    row = owned.row
  }
  const link = context.storage.link(row.holder, media.name)
  if (link.kind === 'column') where.push(equal(column(row.alias, link.key), file.key))
  else {
    const alias = context.alias()
    from.push({ table: link.table, alias, on: null })
    where.push(equal(column(alias, link.targetKey), file.key))
    for (const [own, owner] of link.owner) where.push(equal(column(alias, own), column(row.alias, owner)))
  }
  return { from, where, row, order: ascending(idOf(document), idOf(row)), document }
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

/** `followed`: the source row of a link to `latest`: only a draft leads to drafts. */
function versionConditions(target: Row, followed: Row | null, context: JoinContext): readonly Expression[] {
  if (context.storage.table(target.root).status === null) return []
  const is = context.looksUp ? reachesStatus : hasStatus
  if (target.status !== 'latest') return [is(target, target.status)]
  return followed ? [anyOf([is(target, 'published'), hasStatus(followed, 'draft')])] : []
}

/** The status of a version of a type with drafts. */
const versionStatus = ({ status, ownStatus }: Row): Expression =>
  status === 'latest' ? ownStatus : sqlConstant(status)

const hasStatus = ({ ownStatus }: Row, status: Status): Expression => equal(ownStatus, sqlConstant(status))

/**
 * True for the rows of a status, of which there are two. Without statistics PostgreSQL expects of an equality that hardly any row
 * fulfils it, and would look up by status instead of by key.
 */
const reachesStatus = ({ ownStatus }: Row, status: Status): Expression =>
  binary(ownStatus, status === 'published' ? '>=' : '<=', sqlConstant(status))

const targetSource = (target: Row, context: PlanContext): SqlSource => ({
  table: context.storage.table(target.root).name,
  alias: target.alias,
  on: null,
})

/** A link's table and its target's. `own`: the conditions on the link, `linked`: on both, `found`: on the target. */
function joinThrough(
  link: SqlSource,
  target: Row,
  { own, linked, found }: Readonly<Record<'own' | 'linked' | 'found', readonly Expression[]>>,
  context: JoinContext,
): Pick<Join, 'from' | 'where'> {
  const source = targetSource(target, context)
  if (!context.looksUp) return { from: [link, { ...source, on: allOf(linked) }], where: [...own, ...found] }
  // PostgreSQL reads a source with an offset after those that it depends on.
  const window = { where: allOf([...linked, ...found]), order: [], limit: null, offset: sqlConstant(0) }
  return { from: [link, { ...source, window }], where: own }
}

const idOf = (row: Row): Expression => column(row.alias, 'id')

/** Equates a column with one of the row's own. A bound on the row's id also applies to a column that equals the id. */
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

/** The locale of the target, if it has one: the source row's, or the one that the link stores. */
function localeCondition(row: Row, target: Row, named: Expression | null): readonly Expression[] {
  if (!target.locale) return []
  const wanted = row.locale ?? named
  if (!wanted) throw new TypeError(`a link from ${row.holder.uid} to ${target.root.uid} names no locale`)
  return [equal(target.locale, wanted)]
}

/** The owner and the target of a to-one link. */
interface LinkEnds {
  readonly link: ColumnLink
  readonly owner: Row
  readonly target: Row
}

/** The conditions of a to-one link. With one slot for each status, each slot applies to the version of its status. */
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

/** The columns of one slot. Types without drafts have a second slot for the draft of a target with drafts. */
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
  context: JoinContext,
): Join {
  const alias = context.alias()
  const where = link.owner.flatMap(([own, owner]) =>
    equalsRowColumn(column(row.alias, owner), row, column(alias, own)),
  )
  if (link.targetStatus !== null && !row.root.draftAndPublish && target.root.draftAndPublish) {
    where.push(equal(column(alias, link.targetStatus), versionStatus(target)))
  }
  const named = link.targetLocale === null ? null : column(alias, link.targetLocale)
  const linked = [equal(target.key, column(alias, link.targetKey))]
  const found = [...versions, ...localeCondition(row, target, named)]
  return {
    ...joinThrough({ table: link.table, alias, on: null }, target, { own: where, linked, found }, context),
    row: target,
    order: ascending(column(alias, link.position), idOf(target)),
  }
}

/** The inverse side: the rows whose own link resolves to this one. */
function joinInverse(
  row: Row,
  attribute: RelationAttribute,
  target: Row,
  versions: readonly Expression[],
  context: JoinContext,
): Join {
  const { counterpart } = attribute
  if (!counterpart) throw new TypeError(`${row.holder.uid}.${attribute.name} is an inverse of nothing`)
  const link = context.storage.link(target.root, counterpart.name)
  const join =
    link.kind === 'column'
      ? joinInverseColumn(row, link, target, versions, context)
      : joinInverseTable(row, link, target, versions, context)
  return attribute.many || row.locale || !target.locale
    ? join
    : { ...join, order: preferLocale(target.locale, join.order, context) }
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
  context: JoinContext,
): Join {
  const alias = context.alias()
  const linked = link.owner.map(([own, owner]) => equal(column(target.alias, owner), column(alias, own)))
  const where = equalsRowColumn(row.key, row, column(alias, link.targetKey))
  if (link.targetStatus !== null && row.root.draftAndPublish && !target.root.draftAndPublish) {
    where.push(equal(column(alias, link.targetStatus), versionStatus(row)))
  }
  const named = link.targetLocale === null ? null : column(alias, link.targetLocale)
  const order = link.inversePosition === null ? [] : [column(alias, link.inversePosition)]
  const found = [...versions, ...inverseLocale(row, target, named)]
  return {
    ...joinThrough({ table: link.table, alias, on: null }, target, { own: where, linked, found }, context),
    row: target,
    order: ascending(...order, idOf(target)),
  }
}

/** An unlocalised side lists each locale as a separate entry (reference/documents.md#9-inverse-side). */
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
