import { isLink } from '../model/model.ts'
import type { Filter, RelatedFilter, Scope, Sights, Status } from '../query/query.ts'
import { allOf, anyOf, constant, equal, FALSE, not, select, TRUE } from '../sql/build.ts'
import type { Expression } from '../sql/nodes.ts'
import { planComparison } from './comparison.ts'
import { hasVersion } from './has-version.ts'
import { type Hop, hopComponent, hopLink } from './join.ts'
import { holdsForAbsent } from './missing-related-row.ts'
import type { PlanContext, Row } from './row.ts'

/**
 * A filter over a bound row. Negations are pushed down to the comparisons and through relations, for a
 * document is found where some choice of related rows makes the whole filter true (contract/rest.md 7).
 */
export function planFilter(filter: Filter, row: Row, context: PlanContext, negated = false): Expression {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const terms = filter.filters.map(part => planFilter(part, row, context, negated))
      return (filter.kind === 'and') === negated ? anyOf(terms) : allOf(terms)
    }
    case 'not':
      return planFilter(filter.filter, row, context, !negated)
    case 'comparison':
      return planPresent(filter, row, context, negated)
    case 'related':
      return planRelated(filter, row, context, negated)
  }
}

/** A row that is there has an id: asking for its absence needs no SQL. */
function planPresent(
  filter: Extract<Filter, { kind: 'comparison' }>,
  row: Row,
  context: PlanContext,
  negated: boolean,
): Expression {
  const asksNull = filter.operator === '$null' || filter.operator === '$notNull'
  if (
    asksNull &&
    filter.attribute.system &&
    (filter.attribute.type === 'id' || filter.attribute.type === 'documentId')
  ) {
    const isNull = (filter.operator === '$null') === (filter.values[0] === true)
    return isNull === negated ? TRUE : FALSE
  }
  const test = planComparison(filter, row, context)
  return negated ? not(test) : test
}

function planRelated(filter: RelatedFilter, row: Row, context: PlanContext, negated: boolean): Expression {
  const someRow = exists(filter, row, context, (hop: Hop) =>
    planFilter(filter.filter, hop.row, context, negated),
  )
  if (!holdsForAbsent(filter.filter, negated)) return someRow
  return anyOf([someRow, not(exists(filter, row, context, () => TRUE))])
}

function exists(
  filter: RelatedFilter,
  row: Row,
  context: PlanContext,
  condition: (hop: Hop) => Expression,
): Expression {
  const hop = hopTo(filter, row, context)
  const test = condition(hop)
  if (test === FALSE) return FALSE
  const visible = planScope(filter.scope, hop.row, context)
  return {
    kind: 'exists',
    negated: false,
    select: select({
      columns: [{ as: 'one', expression: constant(1) }],
      from: hop.from,
      where: allOf([...hop.where, visible, test]),
    }),
  }
}

const hopTo = ({ attribute, scope }: RelatedFilter, row: Row, context: PlanContext): Hop =>
  isLink(attribute)
    ? hopLink(row, attribute, scope?.status ?? null, context)
    : hopComponent(row, attribute, context)

/** What of the rows at the end of a link the caller sees. */
export const planScope = (scope: Scope | null, row: Row, context: PlanContext): Expression =>
  allOf([
    scope?.where ? planFilter(scope.where, row, context) : TRUE,
    row.status === 'latest'
      ? planLatest(row, scope?.sights, context)
      : planSight(row, row.status, scope?.sights, context),
  ])

/** Of a document's versions that the caller sees the published one, else the draft (documents.md 17). */
export function planLatest(row: Row, sights: Sights | undefined, context: PlanContext): Expression {
  const seen = (status: Status, version: Row) => planSight(version, status, sights, context)
  const is = (status: Status) => equal(row.ownStatus, constant(status))
  const published = hasVersion(row, { status: 'published', when: found => seen('published', found) }, context)
  return anyOf([
    allOf([is('published'), seen('published', row)]),
    allOf([is('draft'), seen('draft', row), not(published)]),
  ])
}

/** Whether the caller sees a version of a status; what the condition speaks of is read in that status too. */
export function planSight(
  version: Row,
  status: Status,
  sights: Sights | undefined,
  context: PlanContext,
): Expression {
  const sight = sights?.[status]
  return sight ? planFilter(sight, { ...version, status }, context) : TRUE
}
