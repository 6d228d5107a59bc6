import type { Catalogue } from './catalogue.ts'
import { type Hold, OTHERS, type Others } from './finding.ts'

/** A table that is there, and whom a plan keeps away from it. */
export interface HeldTable {
  readonly table: string
  readonly from: Others
}

/** Each table once, from all that anything keeps away from it; in one order for everybody. */
export function heldTables(
  holds: readonly Hold[],
  { tables, made }: Pick<Catalogue, 'tables' | 'made'>,
): readonly HeldTable[] {
  const held = new Map<string, Others>()
  for (const { table, from } of holds) {
    for (const one of table === null ? made.keys() : [table])
      if (tables.has(one)) held.set(one, stronger(from, held.get(one)))
  }
  return [...held].map(([table, from]) => ({ table, from })).sort(byName)
}

const stronger = (one: Others, other: Others = 'vacuum'): Others =>
  OTHERS.indexOf(one) > OTHERS.indexOf(other) ? one : other

const byName = ({ table: one }: HeldTable, { table: other }: HeldTable): number => (one < other ? -1 : 1)
