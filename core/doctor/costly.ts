import { counted } from './advice.ts'
import { nodesOf, type PlanNode } from './explain.ts'

/** Fewer rows than these are not worth a word. */
export const WORTH = 5_000

/** What of a plan is dear, in words; `rowsIn`: how many rows a table has, about. */
export function findCostly(plan: PlanNode, rowsIn: (table: string) => number): readonly string[] {
  const found = nodesOf(plan)
    .toReversed()
    .flatMap(node => [...scanOf(node, rowsIn), ...filterOf(node), ...sortOf(node)])
  return [...new Set(found)]
}

function scanOf({ 'Node Type': kind, 'Relation Name': table }: PlanNode, rowsIn: (table: string) => number) {
  if (kind !== 'Seq Scan' || table === undefined || rowsIn(table) < WORTH) return []
  return [`reads all ${counted(rowsIn(table))} rows of \`${table}\``]
}

/** Known where the statement was run. */
function filterOf({
  'Node Type': kind,
  'Relation Name': table,
  'Rows Removed by Filter': removed = 0,
}: PlanNode) {
  if (kind === 'Seq Scan' || removed < WORTH) return []
  return [`looks at ${counted(removed)} rows${table === undefined ? '' : ` of \`${table}\``} in vain`]
}

function sortOf({ 'Node Type': kind, Plans: plans = [], 'Sort Space Type': space }: PlanNode) {
  const rows = Math.max(0, ...plans.map(child => child['Actual Rows'] ?? child['Plan Rows']))
  if (kind !== 'Sort' || rows < WORTH) return []
  return [`sorts ${counted(rows)} rows${space === 'Disk' ? ' on disk' : ''}`]
}
