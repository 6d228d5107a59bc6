import { groupBy } from '../../base/plain-data.ts'
import type { ContentType, Holder } from '../../model/model.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { DesiredDocument, Slot, Values } from '../desired-state.ts'
import { KEEPING_TARGETS } from '../sql/look-ups.ts'
import { newId, numberIn, type RowId } from '../sql/write-rows.ts'
import type { Current } from './write-load.ts'
import type { WritePlanOptions } from './write-options.ts'

/** The key of a document: of one that is there, one that is being made, or none. */
export type Keys = (type: ContentType, documentId: string | Slot) => RowId | undefined

/** Keys of the documents written and of all that they link to: one statement a type for those not written now. */
export async function findKeys(
  documents: readonly DesiredDocument<Slot>[],
  current: Current,
  options: WritePlanOptions,
): Promise<Keys> {
  const known = new Map<ContentType, Map<string | Slot, RowId>>()
  for (const [type, written] of groupBy(documents, each => each.type)) {
    known.set(
      type,
      new Map(written.map(document => [document.documentId, ownKey(document, current, options)])),
    )
  }
  const targets: Target[] = []
  for (const { type, versions } of documents)
    for (const { values } of versions) addTargets(type, values, targets)
  for (const [type, found] of groupBy(targets, each => each.type)) {
    const here = known.get(type) ?? new Map<string | Slot, RowId>()
    const missing = [...new Set(found.map(each => each.documentId))].filter(id => !here.has(id))
    for (const [id, key] of await readKeys(type, missing, options)) here.set(id, key)
    known.set(type, here)
  }
  return (type, documentId) => known.get(type)?.get(documentId)
}

/** A document's key is the id of its first row. */
function ownKey(
  { type, documentId, key }: DesiredDocument<Slot>,
  current: Current,
  { storage }: WritePlanOptions,
): RowId {
  const table = storage.table(type)
  const [first] = current.rows(type, documentId)
  return first === undefined ? (key ?? newId(table.name)) : numberIn(first, table.key)
}

interface Target {
  readonly type: ContentType
  readonly documentId: string
}

/** Adds the targets whose keys are unknown. */
function addTargets(holder: Holder, values: Values<Slot>, found: Target[]): void {
  for (const [attributeName, value] of values) {
    if (value.kind === 'scalar') continue
    if (value.kind === 'components') {
      for (const item of value.items) addTargets(item.component, item.values, found)
      continue
    }
    const attribute = holder.attributes.get(attributeName)
    if (attribute?.kind !== 'relation' && attribute?.kind !== 'media') continue
    for (const { documentId, key } of value.targets)
      if (key === undefined) found.push({ type: attribute.target, documentId })
  }
}

async function readKeys(
  type: ContentType,
  documentIds: readonly string[],
  { transaction, storage }: WritePlanOptions,
): Promise<readonly (readonly [string, number])[]> {
  if (documentIds.length === 0) return []
  const table = storage.table(type)
  const { rows } = await transaction.run({
    name: `find keys of ${type.key}`,
    text: `SELECT ${ident(table.documentId)}, ${ident(table.key)} FROM ${ident(table.name)} WHERE ${ident(table.documentId)} = ANY ($1::text[]) ORDER BY ${ident(table.id)} ${KEEPING_TARGETS}`,
    values: [documentIds],
  })
  return rows.map(([id, key]) => [String(id), Number(key)])
}
