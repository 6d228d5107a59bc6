import type { LinkShape, Table } from '../../model/storage.ts'
import { qualified } from '../../sql/ddl.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { Catalogue } from './catalogue.ts'
import type { SchemaFinding } from './finding.ts'
import { projection, type TablePair } from './pair-tables.ts'
import { countRows } from './row-counts.ts'

/**
 * Refuses links to a table that was dropped by hand and is created again: its numbers begin at one, so new rows would get
 * the links of the lost ones. No foreign key finds them, because links name the number of a document, not a row.
 */
export function* refuseStaleLinks(
  created: readonly Table[],
  pairs: readonly TablePair[],
  { schema, owned }: Catalogue,
): Generator<SchemaFinding> {
  const dropped = new Map(
    created.flatMap(({ name, shape }) => (shape && owned.has(name) ? [[shape.uid, name] as const] : [])),
  )
  if (dropped.size === 0) return
  const byName = new Map(pairs.map(pair => [pair.desired.name, pair]))
  for (const holder of pairs) {
    for (const attribute of holder.desired.shape?.attributes ?? []) {
      if (attribute.kind !== 'link') continue
      const target = dropped.get(attribute.target)
      const { pair, columns } = placeOf(attribute, holder, byName)
      if (target === undefined || pair === undefined) continue
      const { name, serves } = pair.desired
      const links = columns.map(column => `${ident(column)} IS NOT NULL`).join(' OR ')
      yield {
        kind: 'precondition',
        code: 'dangling-link',
        table: name,
        countQuery: countRows(projection(pair), links),
        message: `\`${attribute.name}\` in table "${name}" (${serves}) has links in {rows} to rows of "${target}", which was dropped by hand: new rows would get these links. Restore that table from a backup, or remove the links: ${printRemoval(schema, pair, columns)}`,
      }
    }
  }
}

/** The table that has the links, if it exists, and the columns with the numbers of their targets. */
function placeOf({ link }: LinkShape, holder: TablePair, byName: ReadonlyMap<string, TablePair>) {
  if (link.kind === 'table') return { pair: byName.get(link.table), columns: [link.targetKey] }
  return { pair: holder, columns: link.draftKey === null ? [link.key] : [link.key, link.draftKey] }
}

function printRemoval(schema: string, { actual, desired }: TablePair, columns: readonly string[]): string {
  const place = qualified(schema, actual.name)
  if (desired.shape === undefined) return `DELETE FROM ${place}`
  return `UPDATE ${place} SET ${columns.map(column => `${ident(column)} = NULL`).join(', ')}`
}
