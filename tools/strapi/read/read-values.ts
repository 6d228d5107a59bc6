import { groupBy } from '../../../core/base/plain-data.ts'
import type { ScalarAttribute } from '../../../core/model/model.ts'
import type { AttributePair, HolderPair } from '../field-mapping.ts'
import { jsonOrText, textAt } from './literal-value.ts'
import { readLinkRecords, readMediaLinks, readRelations } from './read-links.ts'
import type { Drafts, Nested, ReadHolder, ValuesById } from './read-options.ts'
import { numberAt } from './source.ts'

/** Reads rows of a content-type or component, with links and components, in the format of the stream. */
export async function readValues(
  pair: HolderPair,
  ids: readonly number[],
  holding: ReadHolder,
): Promise<ValuesById> {
  const drafts = new Map(ids.map((id): [number, Record<string, unknown>] => [id, {}]))
  const found = await readScalars(pair, drafts, holding)
  for (const id of ids) if (!found.has(id)) drafts.delete(id)
  await readRelations(pair, drafts, holding)
  await readLinkRecords(pair, drafts, holding)
  await readMediaLinks(pair, drafts, holding)
  await readComponents(pair, drafts, holding, ({ pair: inner, ids: parts, locales }) =>
    readValues(inner, parts, { ...holding, locales }),
  )
  return drafts
}

/** Returns the existing rows. */
async function readScalars(
  pair: HolderPair,
  drafts: Drafts,
  { source, names, lose }: ReadHolder,
): Promise<ReadonlySet<number | null>> {
  const table = names.table(pair.collectionName)
  const there = new Set(source.tables.get(table)?.map(({ name }) => name))
  const scalars = pair.attributes.filter(
    ({ ours, declared }) => ours.kind === 'scalar' && textAt(declared, 'type') !== 'relation',
  )
  for (const { name } of scalars.filter(
    each => each.declared.size > 0 && !there.has(names.column(each.name)),
  ))
    lose({ of: `${pair.uid} ${name}`, why: `the table ${table} has no such column` })
  const rows = await source.read({
    table,
    columns: ['id', ...new Set(scalars.map(({ name }) => names.column(name)))],
    among: { column: 'id', values: [...drafts.keys()] },
  })
  for (const row of rows) {
    const draft = drafts.get(numberAt(row, 'id') ?? 0)
    for (const each of draft === undefined ? [] : scalars) {
      const value = scalarOf(each, row.get(names.column(each.name)) ?? null)
      if (draft !== undefined && value !== undefined) draft[each.ours.name] = value
      if (value === undefined && row.get(names.column(each.name)))
        lose({ of: `${pair.uid} ${each.name}`, why: 'a password that is no bcrypt hash' })
    }
  }
  return new Set(rows.map(row => numberAt(row, 'id')))
}

const scalarOf = ({ ours }: AttributePair, text: string | null): unknown =>
  ours.kind === 'scalar' && text !== null ? toStreamedScalar(ours, text) : undefined

const BCRYPT = /^\$2[aby]\$\d\d\$.{53}$/

/**
 * Converts PostgreSQL's text of a value to the format of the stream; undefined for an empty value. A text that is no such
 * value stays, so that the import reports it with its document.
 */
function toStreamedScalar({ type }: ScalarAttribute, text: string): unknown {
  switch (type) {
    case 'password':
      return BCRYPT.test(text) ? { hash: text } : undefined
    case 'json':
    case 'blocks':
    case 'array':
      return jsonOrText(text) ?? undefined
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : text)
    case 'integer':
    case 'float':
      return Number.isFinite(Number(text)) ? Number(text) : text
    case 'enumeration':
    case 'uid':
    case 'email':
      return text === '' ? undefined : text
    default:
      return text
  }
}

/** A row of the table that links components to their holders. */
interface FoundPart {
  readonly owner: number
  readonly field: string
  readonly component: string
  readonly id: number
}

type ReadNested = (nested: Nested) => Promise<ValuesById>

/** Reads the components and dynamic zones of a holder, with nested ones. */
async function readComponents(
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
  { correspondence, locales }: ReadHolder,
  readNested: ReadNested,
): Promise<ReadonlyMap<string, ValuesById>> {
  const values = new Map<string, ValuesById>()
  for (const [component, own] of groupBy(parts, part => part.component)) {
    const pair = correspondence.components.get(component)
    if (pair === undefined) continue
    const found = new Map(own.map(({ id, owner }) => [id, locales.get(owner) ?? null]))
    values.set(component, await readNested({ pair, ids: [...found.keys()], locales: found }))
  }
  return values
}
