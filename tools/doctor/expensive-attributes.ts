import { counted } from './advice.ts'
import { nodesOf, type PlanNode } from './explain.ts'

/** Fewer rows than these are not worth a word. */
const WORTH = 5_000

/** What of a plan is dear. */
export interface Costly {
  readonly kind: 'scan' | 'vain' | 'sort'
  /** Behind `PostgreSQL`. */
  readonly words: string
}

/** In the order in which it is done; `rowsIn`: how many rows a table has, about. */
export function findCostly(plan: PlanNode, rowsIn: (table: string) => number): readonly Costly[] {
  const found = nodesOf(plan)
    .toReversed()
    .flatMap(node => [...scanOf(node, rowsIn), ...vainOf(node), ...sortOf(node)])
  return [...new Map(found.map(one => [one.words, one])).values()]
}

type Find = readonly Costly[]

function scanOf(
  { 'Node Type': kind, 'Relation Name': table }: PlanNode,
  rowsIn: (table: string) => number,
): Find {
  if (kind !== 'Seq Scan' || table === undefined || rowsIn(table) < WORTH) return []
  return [{ kind: 'scan', words: `reads all ${counted(rowsIn(table))} rows of \`${table}\`` }]
}

/** Known where the statement was run. */
function vainOf({
  'Node Type': kind,
  'Relation Name': table,
  'Rows Removed by Filter': removed = 0,
}: PlanNode): Find {
  if (kind === 'Seq Scan' || removed < WORTH) return []
  const where = table === undefined ? '' : ` of \`${table}\``
  return [{ kind: 'vain', words: `looks at ${counted(removed)} rows${where} in vain` }]
}

function sortOf({ 'Node Type': kind, Plans: plans = [], 'Sort Space Type': space }: PlanNode): Find {
  const rows = Math.max(0, ...plans.map(child => child['Actual Rows'] ?? child['Plan Rows']))
  if (kind !== 'Sort' || rows < WORTH) return []
  return [{ kind: 'sort', words: `sorts ${counted(rows)} rows${space === 'Disk' ? ' on disk' : ''}` }]
}
