import type { Filter, Query, Status } from '../query/query.ts'
import { allOf, anyOf, binary, column, constant, equal, not, select, TRUE } from '../sql/build.ts'
import type { Expression } from '../sql/nodes.ts'
import { planFilter } from './filter.ts'
import { type PlanContext, type Row, typeRow } from './row.ts'

/** contract/rest.md 10: how those of a document's versions that the caller sees stand to one another. */
export function planPublication(
  { publication, sights }: Pick<Query, 'publication' | 'sights'>,
  row: Row,
  context: PlanContext,
): Expression {
  const version = (status: Status, terms: VersionTerms = {}) =>
    hasVersion(row, { status, sight: sights?.[status] ?? null, ...terms }, context)
  switch (publication) {
    case null:
      return TRUE
    case 'never-published':
      return not(version('published'))
    case 'has-published-version':
      return version('published')
    case 'never-published-document':
      return not(version('published', { anyLocale: true }))
    case 'has-published-version-document':
      return version('published', { anyLocale: true })
    case 'modified':
      return allOf([version('draft'), version('published'), changedSince(row, version)])
    case 'unmodified':
      return allOf([version('draft'), version('published'), not(changedSince(row, version))])
    case 'published-without-draft':
      return allOf([version('published'), not(version('draft'))])
    case 'published-with-draft':
      return allOf([version('published'), version('draft')])
  }
}

interface VersionTerms {
  readonly anyLocale?: boolean
  /** A further condition on the version found. */
  readonly when?: (version: Row) => Expression
}

/** The other version's stamps differ: publishing makes them equal (contract/rest.md 1, `updatedAt`). */
const changedSince = (row: Row, version: (status: Status, terms: VersionTerms) => Expression): Expression =>
  anyOf([version('draft', { when: stampsDiffer(row) }), version('published', { when: stampsDiffer(row) })])

const stampsDiffer =
  (row: Row) =>
  (version: Row): Expression =>
    anyOf(
      stampsOf(row).map(stamp =>
        binary(column(version.alias, stamp), 'IS DISTINCT FROM', column(row.alias, stamp)),
      ),
    )

const stampsOf = ({ root }: Row): readonly string[] =>
  root.localized ? ['updated_at', 'shared_updated_at'] : ['updated_at']

interface SoughtVersion extends VersionTerms {
  readonly status: Status
  readonly sight: Filter | null
}

function hasVersion(
  row: Row,
  { status, sight, anyLocale, when }: SoughtVersion,
  context: PlanContext,
): Expression {
  const table = context.storage.table(row.root)
  const version = typeRow(row.root, context.alias(), status, context.storage)
  const where: Expression[] = [equal(version.key, row.key)]
  if (table.status !== null) where.push(equal(column(version.alias, table.status), constant(status)))
  if (version.locale && row.locale && anyLocale !== true) where.push(equal(version.locale, row.locale))
  if (sight) where.push(planFilter(sight, version, context))
  if (when) where.push(when(version))
  return {
    kind: 'exists',
    negated: false,
    select: select({
      columns: [{ as: 'one', expression: constant(1) }],
      from: [{ table: table.name, alias: version.alias, on: null }],
      where: allOf(where),
    }),
  }
}
