import type { Values } from '../../core/documents/desired-state.ts'
import type { WriteTerms } from '../../core/documents/rows/write-terms.ts'
import { linksIn, namingColumn } from '../../core/import/links.ts'
import type { ContentType, Holder } from '../../core/model/model.ts'
import { quoteIdentifier as name } from '../../core/sql/identifier.ts'

/** The keys of link targets, by type. */
export type Targets = Map<ContentType, Set<number>>

export function collectTargets(holder: Holder, values: Values, targets: Targets): void {
  for (const { attribute, target } of linksIn(holder, values)) {
    const keys = targets.get(attribute.target) ?? new Set<number>()
    targets.set(attribute.target, keys)
    if (target.key !== undefined) keys.add(target.key)
  }
}

type NameOf = (type: ContentType, key: number) => string | undefined

/** One statement per type. */
export async function readNames(targets: Targets, terms: WriteTerms): Promise<NameOf> {
  const names = new Map<ContentType, ReadonlyMap<number, string>>()
  const reads = [...targets].map(async ([type, keys]) => {
    names.set(type, await readNamesOf(type, [...keys], terms))
  })
  await Promise.all(reads)
  return (type, key) => names.get(type)?.get(key)
}

async function readNamesOf(
  type: ContentType,
  keys: readonly number[],
  { transaction, storage }: WriteTerms,
): Promise<ReadonlyMap<number, string>> {
  if (keys.length === 0) return new Map()
  const table = storage.table(type)
  const { rows } = await transaction.run({
    name: `read names of ${type.pluralApiId}`,
    text: `SELECT DISTINCT ${name(table.key)}, ${name(namingColumn(type, storage, 'documentId'))} FROM ${name(table.name)} WHERE ${name(table.key)} = ANY ($1::integer[])`,
    values: [keys],
  })
  return new Map(rows.map(([key, called]) => [Number(key), String(called)]))
}
