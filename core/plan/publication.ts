import type { Query, Status } from '../query/query.ts'
import { allOf, anyOf, binary, column, not, TRUE } from '../sql/build.ts'
import type { Expression } from '../sql/nodes.ts'
import { planSight } from './filter.ts'
import { hasVersion, type VersionCondition } from './has-version.ts'
import type { PlanContext, Row } from './row.ts'

/** reference/rest.md#10-drafts: filters documents by the relation of their visible versions. */
export function planPublication(
  { publication, visibleVersions }: Pick<Query, 'publication' | 'visibleVersions'>,
  row: Row,
  context: PlanContext,
): Expression {
  const version = (status: Status, { when, ...terms }: VersionCondition = {}) => {
    const seen = (found: Row) =>
      allOf([planSight(found, status, visibleVersions, context), when?.(found) ?? TRUE])
    return hasVersion(row, { status, ...terms, when: seen }, context)
  }
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

/** Whether the timestamps of the other version differ: publishing makes them equal (reference/rest.md#1-envelope-and-status-codes, `updatedAt`). */
const changedSince = (
  row: Row,
  version: (status: Status, terms: VersionCondition) => Expression,
): Expression =>
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
