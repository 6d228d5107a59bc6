import type { Values } from '../../../core/documents/desired-state.ts'
import type { WriteTerms } from '../../../core/documents/rows/write-terms.ts'
import type { ContentType, Holder } from '../../../core/model/model.ts'
import type { Storage } from '../../../core/model/storage.ts'
import { quoteIdentifier as name } from '../../../core/sql/identifier.ts'

/** What documents go by in the stream: roles and locales by what the project calls them, which is the same in every database. */
export function namingColumn(type: ContentType, storage: Storage): string {
  if (type.builtIn && type.key === 'role') return storage.column(type, 'type')
  if (type.builtIn && type.key === 'locale') return storage.column(type, 'code')
  return storage.table(type).documentId
}

/** The keys that links lead to, by type. */
export type Targets = Map<ContentType, Set<number>>

export function collectTargets(holder: Holder, values: Values, targets: Targets): void {
  for (const [attributeName, value] of values) {
    const attribute = holder.attributes.get(attributeName)
    if (value.kind === 'components')
      for (const item of value.items) collectTargets(item.component, item.values, targets)
    if (value.kind !== 'links' || (attribute?.kind !== 'relation' && attribute?.kind !== 'media')) continue
    const keys = targets.get(attribute.target) ?? new Set<number>()
    targets.set(attribute.target, keys)
    for (const { key } of value.targets) if (key !== undefined) keys.add(key)
  }
}

export type NameOf = (type: ContentType, key: number) => string | undefined

/** One statement a type. */
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
    text: `SELECT DISTINCT ${name(table.key)}, ${name(namingColumn(type, storage))} FROM ${name(table.name)} WHERE ${name(table.key)} = ANY ($1::integer[])`,
    values: [keys],
  })
  return new Map(rows.map(([key, called]) => [Number(key), String(called)]))
}
