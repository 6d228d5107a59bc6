import type { Status } from '../query/query.ts'
import { allOf, column, equal, select, sqlConstant } from '../sql/build.ts'
import type { ExistsNode, Expression } from '../sql/nodes.ts'
import { type PlanContext, type Row, typeRow } from './row.ts'

export interface VersionCondition {
  readonly anyLocale?: boolean
  /** A further condition on the version found. */
  readonly when?: (version: Row) => Expression
}

type VersionOptions = VersionCondition & { readonly status: Status }

/** True if the row's document has a version of a status, in the row's locale unless `anyLocale`. */
export function hasVersion(
  row: Row,
  { status, anyLocale, when }: VersionOptions,
  context: PlanContext,
): ExistsNode {
  const table = context.storage.table(row.root)
  const version = typeRow(row.root, context.alias(), status, context.storage)
  const where: Expression[] = [equal(version.key, row.key)]
  if (table.status !== null) where.push(equal(column(version.alias, table.status), sqlConstant(status)))
  if (version.locale && row.locale && anyLocale !== true) where.push(equal(version.locale, row.locale))
  if (when) where.push(when(version))
  return exists(version, where, context)
}

/**
 * True if there is no such version. Looked up for each row: PostgreSQL would join all documents otherwise, because it expects that hardly
 * any lacks one, and a page of a million drafts would take seconds.
 */
export function lacksVersion(row: Row, options: VersionOptions, context: PlanContext): Expression {
  const found = hasVersion(row, options, context)
  // OFFSET keeps the subquery from becoming an anti join.
  return { ...found, negated: true, select: { ...found.select, offset: sqlConstant(0) } }
}

/** True if the row has the same document and locale as the row with this id. */
export function isVersionOf(row: Row, id: Expression, context: PlanContext): Expression {
  const named = typeRow(row.root, context.alias(), 'published', context.storage)
  const where = [equal(column(named.alias, 'id'), id), equal(named.key, row.key)]
  if (named.locale && row.locale) where.push(equal(named.locale, row.locale))
  return exists(named, where, context)
}

const exists = (version: Row, where: readonly Expression[], context: PlanContext): ExistsNode => ({
  kind: 'exists',
  negated: false,
  select: select({
    columns: [{ as: 'one', expression: sqlConstant(1) }],
    from: [{ table: context.storage.table(version.root).name, alias: version.alias, on: null }],
    where: allOf(where),
  }),
})
