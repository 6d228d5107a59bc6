import { groupBy } from '../../../core/base/plain-data.ts'
import type { HolderPair } from '../field-mapping.ts'
import type { Drafts, Nested, ReadHolder, ValuesById } from './read-terms.ts'
import { numberAt } from './source.ts'

/** A row of the table that links components to their holders. */
interface FoundPart {
  readonly owner: number
  readonly field: string
  readonly component: string
  readonly id: number
}

type ReadNested = (nested: Nested) => Promise<ValuesById>

/** Reads the components and dynamic zones of a holder, with nested ones. */
export async function readComponents(
  pair: HolderPair,
  drafts: Drafts,
  holding: ReadHolder,
  readNested: ReadNested,
): Promise<void> {
  const holders = pair.attributes.filter(({ ours }) => ours.kind === 'component' || ours.kind === 'zone')
  if (holders.length === 0) return
  const parts = await readParts(pair, drafts, holding)
  const values = await readAll(parts, holding, readNested)
  for (const { name, ours } of holders) {
    const own = groupBy(
      parts.filter(part => part.field === name),
      part => part.owner,
    )
    for (const [owner, items] of own) {
      const draft = drafts.get(owner)
      const present = items.flatMap(part => {
        const value = values.get(part.component)?.get(part.id)
        const uid = holding.correspondence.components.get(part.component)?.ours.uid
        if (value === undefined) return []
        return [ours.kind === 'zone' ? { __component: uid, ...value } : value]
      })
      if (present.length < items.length)
        holding.lose({ of: `${pair.uid} ${name}`, why: 'it holds a component that did not come over' })
      const isList = ours.kind === 'zone' || (ours.kind === 'component' && ours.repeatable)
      if (draft !== undefined && present.length > 0) draft[ours.name] = isList ? present : present[0]
    }
  }
}

async function readParts(
  { collectionName }: HolderPair,
  drafts: Drafts,
  { source, names }: ReadHolder,
): Promise<readonly FoundPart[]> {
  const rows = await source.read({
    table: names.components(collectionName),
    columns: ['entity_id', names.componentId, 'component_type', 'field'],
    among: { column: 'entity_id', values: [...drafts.keys()] },
    orderBy: ['entity_id', 'field', 'order', 'id'],
  })
  return rows.map(row => ({
    owner: numberAt(row, 'entity_id') ?? 0,
    field: row.get('field') ?? '',
    component: row.get('component_type') ?? '',
    id: numberAt(row, names.componentId) ?? 0,
  }))
}

/** One query per component. */
async function readAll(
  parts: readonly FoundPart[],
  { correspondence }: ReadHolder,
  readNested: ReadNested,
): Promise<ReadonlyMap<string, ValuesById>> {
  const values = new Map<string, ValuesById>()
  for (const [component, own] of groupBy(parts, part => part.component)) {
    const pair = correspondence.components.get(component)
    if (pair !== undefined) values.set(component, await readNested({ pair, ids: own.map(({ id }) => id) }))
  }
  return values
}
