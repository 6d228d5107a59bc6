import { isLink } from '../model/model.ts'
import type {
  Comparison,
  Filter,
  LinkScope,
  RelatedFilter,
  Search,
  Status,
  VisibleVersions,
} from '../query/query.ts'
import { allOf, anyOf, equal, FALSE, not, select, sqlConstant, TRUE } from '../sql/build.ts'
import type { Expression } from '../sql/nodes.ts'
import { planComparison } from './comparison.ts'
import { hasVersion } from './has-version.ts'
import { type Join, joinComponent, joinTested } from './join.ts'
import type { PlanContext, Row } from './row.ts'

/**
 * A filter on a bound row. Negations are pushed down to the comparisons and through relations, because a document
 * matches if some choice of related rows makes the whole filter true (reference/rest.md#7-filters).
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

/** An existing row always has an id, so null tests of ids are constants. */
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
  const someRow = exists(filter, row, context, (join: Join) =>
    planFilter(filter.filter, join.row, context, negated),
  )
  if (!holdsForAbsent(filter.filter, negated)) return someRow
  return anyOf([someRow, not(exists(filter, row, context, () => TRUE))])
}

function exists(
  filter: RelatedFilter,
  row: Row,
  context: PlanContext,
  condition: (join: Join) => Expression,
): Expression {
  const join = hopTo(filter, row, context)
  const test = condition(join)
  if (test === FALSE) return FALSE
  const visible = planScope(filter.scope, join.row, context)
  return {
    kind: 'exists',
    negated: false,
    select: select({
      columns: [{ as: 'one', expression: sqlConstant(1) }],
      from: join.from,
      where: allOf([...join.where, visible, test]),
    }),
  }
}

const hopTo = ({ attribute, scope }: RelatedFilter, row: Row, context: PlanContext): Join =>
  isLink(attribute)
    ? joinTested(row, attribute, scope?.status ?? null, context)
    : joinComponent(row, attribute, context)

/** The condition on the target rows of a link that the caller may read. Components belong to a version that is chosen already. */
export const planScope = (scope: LinkScope | null, row: Row, context: PlanContext): Expression => {
  if (row.holder.holder === 'component') return TRUE
  return allOf([
    scope?.where ? planFilter(scope.where, row, context) : TRUE,
    row.status === 'latest'
      ? planLatest(row, scope?.visibleVersions, context)
      : planVisible(row, row.status, scope?.visibleVersions, context),
  ])
}

/** The latest of a document's visible versions: the published one, otherwise the draft (reference/documents.md#17-graphql-nested-dialect). */
export function planLatest(row: Row, visible: VisibleVersions | undefined, context: PlanContext): Expression {
  const isVisible = (status: Status, version: Row) => planVisible(version, status, visible, context)
  const is = (status: Status) => equal(row.ownStatus, sqlConstant(status))
  const published = hasVersion(
    row,
    { status: 'published', when: found => isVisible('published', found) },
    context,
  )
  return anyOf([
    allOf([is('published'), isVisible('published', row)]),
    allOf([is('draft'), isVisible('draft', row), not(published)]),
  ])
}

/** True if the caller may read a version of a status. Links in the condition resolve to that status, too. */
export function planVisible(
  version: Row,
  status: Status,
  visible: VisibleVersions | undefined,
  context: PlanContext,
): Expression {
  const condition = visible?.[status]
  return condition ? planFilter(condition, { ...version, status }, context) : TRUE
}

/** Three-valued logic as in SQL; null is unknown. */
type Truth = boolean | null

/**
 * True if a filter holds for a missing related row, whose values are all null: that is how
 * `filters[author][email][$null]=true` finds documents without an author (reference/rest.md#7-filters).
 */
const holdsForAbsent = (filter: Filter, negated: boolean): boolean => truthOf(filter, negated) === true

function truthOf(filter: Filter, negated: boolean): Truth {
  switch (filter.kind) {
    case 'comparison':
      return flip(comparisonTruth(filter), negated)
    case 'not':
      return truthOf(filter.filter, !negated)
    case 'related':
      return truthOf(filter.filter, negated)
    default: {
      const truths = filter.filters.map(part => truthOf(part, negated))
      return (filter.kind === 'and') === negated ? some(truths) : every(truths)
    }
  }
}

function comparisonTruth({ operator, values }: Comparison): Truth {
  if (operator === '$null') return values[0] === true
  if (operator === '$notNull') return values[0] !== true
  return null
}

const flip = (truth: Truth, negated: boolean): Truth => (truth === null ? null : truth !== negated)

function every(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false
  return truths.includes(null) ? null : true
}

function some(truths: readonly Truth[]): Truth {
  if (truths.includes(true)) return true
  return truths.includes(null) ? null : false
}

/** `_q`: one of the attributes contains the text, ignoring case; `%` and `_` are literal (reference/rest.md#17-differences-from-strapi, reference/rest.md#7-filters). */
export function planSearch(search: Search, row: Row, context: PlanContext): Expression {
  const { text, attributes } = search
  const place = context.parameterPlace(search)
  return anyOf(
    attributes.map(attribute =>
      planComparison(
        { kind: 'comparison', attribute, operator: '$containsi', values: [text] },
        row,
        context,
        place,
      ),
    ),
  )
}
