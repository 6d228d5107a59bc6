import { isLink } from '../model/model.ts'
import type { Sort, SortStep } from '../query/query.ts'
import { allOf, column, constant, select } from '../sql/build.ts'
import type { Expression, Order } from '../sql/nodes.ts'
import { planScope } from './filter.ts'
import { type Hop, hopComponent, hopLink } from './join.ts'
import type { PlanContext, Row } from './row.ts'
import { scalarOf } from './scalar.ts'

/** The sorts in order, then the id: pages neither repeat nor miss a row. */
export function planOrder(sorts: readonly Sort[], row: Row, context: PlanContext): readonly Order[] {
  const orders = sorts.map(sort => ({ expression: sortKey(sort, row, context), direction: sort.direction }))
  return [...orders, { expression: column(row.alias, 'id'), direction: 'asc' }]
}

export function sortKey(sort: Sort, row: Row, context: PlanContext): Expression {
  const [step, ...rest] = sort.path
  if (!step) return scalarOf(row, sort.attribute, context)
  return { kind: 'subquery', select: firstOf(step, { ...sort, path: rest }, row, context) }
}

/** `ORDER BY 1`: by the key itself. */
const FIRST_COLUMN = constant(1)

/** Over a list the first value in the sort's own direction counts, so no document answers twice. */
function firstOf(step: SortStep, sort: Sort, row: Row, context: PlanContext) {
  const hop = hopTo(step, row, context)
  const visible = planScope(step.scope, hop.row, context)
  return select({
    columns: [{ as: 'key', expression: sortKey(sort, hop.row, context) }],
    from: hop.from,
    where: allOf([...hop.where, visible]),
    order: [{ expression: FIRST_COLUMN, direction: sort.direction }],
    limit: constant(1),
  })
}

const hopTo = ({ attribute, scope }: SortStep, row: Row, context: PlanContext): Hop =>
  isLink(attribute)
    ? hopLink(row, attribute, scope?.status ?? null, context)
    : hopComponent(row, attribute, context)
