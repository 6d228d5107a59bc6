import type { PublicationFilter, Status } from '../query/query.ts'
import { allOf, anyOf, binary, column, constant, equal, not, select } from '../sql/build.ts'
import type { Expression } from '../sql/nodes.ts'
import { type PlanContext, type Row, typeRow } from './row.ts'

/** contract/rest.md 10: how a document's versions stand to one another. */
export function planPublication(filter: PublicationFilter, row: Row, context: PlanContext): Expression {
  const version = (status: Status, terms: VersionTerms = {}) => hasVersion(row, status, terms, context)
  switch (filter) {
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

function hasVersion(row: Row, status: Status, terms: VersionTerms, context: PlanContext): Expression {
  const table = context.storage.table(row.root)
  const version = typeRow(row.root, context.alias(), status, context.storage)
  const where: Expression[] = [equal(version.key, row.key)]
  if (table.status !== null) where.push(equal(column(version.alias, table.status), constant(status)))
  if (version.locale && row.locale && terms.anyLocale !== true) where.push(equal(version.locale, row.locale))
  if (terms.when) where.push(terms.when(version))
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
