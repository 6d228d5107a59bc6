import { isLink } from '../model/model.ts'
import type { Sort, SortStep } from '../query/query.ts'
import { allOf, column, select, sqlConstant } from '../sql/build.ts'
import type { Expression, Order } from '../sql/nodes.ts'
import { planScope } from './filter.ts'
import { type Join, joinComponent, joinLink } from './join.ts'
import type { PlanContext, Row } from './row.ts'
import { planScalar } from './scalar.ts'

/** The sorts in order, then the id: pages neither repeat nor miss a row. */
export function planOrder(sorts: readonly Sort[], row: Row, context: PlanContext): readonly Order[] {
  const orders = sorts.map(sort => ({ expression: sortKey(sort, row, context), direction: sort.direction }))
  return [...orders, { expression: column(row.alias, 'id'), direction: 'asc' }]
}

export function sortKey(sort: Sort, row: Row, context: PlanContext): Expression {
  const [step, ...rest] = sort.path
  if (!step) return planScalar(row, sort.attribute, context)
  return { kind: 'subquery', select: planFirstKey(step, { ...sort, path: rest }, row, context) }
}

/** `ORDER BY 1`: by the key itself. */
const FIRST_COLUMN = sqlConstant(1)

/** In a list of related rows the first value in the sort direction counts, so no document is returned twice. */
function planFirstKey(step: SortStep, sort: Sort, row: Row, context: PlanContext) {
  const join = joinStep(step, row, context)
  const visible = planScope(step.scope, join.row, context)
  return select({
    columns: [{ as: 'key', expression: sortKey(sort, join.row, context) }],
    from: join.from,
    where: allOf([...join.where, visible]),
    order: [{ expression: FIRST_COLUMN, direction: sort.direction }],
    limit: sqlConstant(1),
  })
}

const joinStep = ({ attribute, scope }: SortStep, row: Row, context: PlanContext): Join =>
  isLink(attribute)
    ? joinLink(row, attribute, scope?.status ?? null, context)
    : joinComponent(row, attribute, context)
