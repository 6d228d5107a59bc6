import type { Search } from '../query/query.ts'
import { anyOf } from '../sql/build.ts'
import type { Expression } from '../sql/nodes.ts'
import { planComparison } from './comparison.ts'
import type { PlanContext, Row } from './row.ts'

/** `_q`: the text stands in one of the attributes, whatever its case; `%` and `_` are literal (contract/rest.md 0 and 7). */
export function planSearch(search: Search, row: Row, context: PlanContext): Expression {
  const { text, attributes } = search
  const place = context.placeOf(search)
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
