import { groupBy } from '../../base/plain-data.ts'
import {
  type Attribute,
  type Component,
  type ContentType,
  componentsOf,
  type Holder,
} from '../../model/model.ts'
import { ownerName, type TableLink } from '../../model/storage.ts'
import { type DesiredDocument, Slot, type Stored } from '../desired-state.ts'
import { type Below, columnsOf, printSelectAmong, printSelectBelow, type Tuples } from '../sql/write-print.ts'
import { type CurrentRow, numberIn } from '../sql/write-rows.ts'
import type { WriteOptions } from './write-options.ts'

/** The stored state of the documents to write, as far as the write may change it. */
export interface Current {
  /** The versions of a document, by id. A slot names no stored document. */
  rows(type: ContentType, documentId: string | Slot): readonly CurrentRow[]
  /** The components that an attribute of a document or of a component holds, in all versions. */
  components(holder: Holder, attribute: string, ownerKey: number): readonly CurrentComponent[]
  /** The rows of a link table that one owner has; `owner` in the order of the link's columns. */
  links(link: TableLink, owner: readonly Stored[]): readonly CurrentRow[]
}

export interface CurrentComponent {
  readonly component: Component
  readonly row: CurrentRow
}

/** The same in all statuses of a component. */
export const componentIdentity = ({ uid }: Component, id: unknown): string => `${uid} ${id}`

interface Loading {
  readonly rows: Map<string, readonly CurrentRow[]>
  readonly components: Map<string, CurrentComponent[]>
  readonly links: Map<string, CurrentRow[]>
}

const keyOf = (...parts: readonly Stored[]): string => JSON.stringify(parts)

/** One statement a table, however many documents: their rows, then their components level by level, with the links of each. */
export async function loadCurrent(
  documents: readonly DesiredDocument[],
  options: WriteOptions,
): Promise<Current> {
  const loading = nothing()
  for (const [type, written] of groupBy(documents, each => each.type)) {
    const ids = written.map(({ documentId }) => documentId)
    // The write depends on what is read, so the rows are locked against concurrent changes.
    const rows = await loadVersions(type, ids, loading, { ...options, locking: 'all rows' })
    if (rows.length > 0) await loadParts(type, { rows }, attributesOf(type, written), loading, options)
  }
  return toCurrent(loading)
}

/** Whole documents of one type. */
export async function loadDocuments(
  type: ContentType,
  documentIds: readonly string[],
  options: WriteOptions,
): Promise<Current> {
  const loading = nothing()
  const rows = await loadVersions(type, documentIds, loading, options)
  if (rows.length > 0) await loadParts(type, { rows }, [...type.attributes.values()], loading, options)
  return toCurrent(loading)
}

const nothing = (): Loading => ({ rows: new Map(), components: new Map(), links: new Map() })

/** New documents have nothing stored: their keys are not even built. */
const toCurrent = ({ rows, components, links }: Loading): Current => ({
  rows: (type, documentId) =>
    rows.size === 0 || documentId instanceof Slot ? [] : (rows.get(keyOf(type.uid, documentId)) ?? []),
  components: (holder, attribute, ownerKey) =>
    components.size === 0 ? [] : (components.get(keyOf(ownerName(holder, attribute), ownerKey)) ?? []),
  links: (link, owner) => (links.size === 0 ? [] : (links.get(keyOf(link.table, ...owner)) ?? [])),
})

/** The stored state of a new document. */
export const NO_CURRENT_ROWS: Current = toCurrent(nothing())

/** Parts of a document to load in addition to its rows. */
export interface Desired {
  readonly attributes: readonly Attribute[]
  /** True if the write depends on rows that a concurrent write may have inserted just before. */
  readonly allRows?: boolean
  /** Further attributes to load, depending on the loaded rows. Loading them takes one more round trip. */
  dependent?(rows: readonly CurrentRow[]): readonly Attribute[]
}

/** Locks the rows of one document and loads them in the same round trip. */
export async function loadDocument(
  { type, documentId }: Pick<DesiredDocument, 'type' | 'documentId'>,
  { attributes, dependent, allRows = false }: Desired,
  options: WriteOptions,
): Promise<Current> {
  const loading = nothing()
  const [rows] = await Promise.all([
    loadVersions(type, [documentId], loading, { ...options, locking: allRows ? 'all rows' : true }),
    loadParts(type, { documentId }, attributes, loading, options),
  ])
  const more = rows.length === 0 ? [] : (dependent?.(rows) ?? [])
  if (more.length > 0) await loadParts(type, { rows }, more, loading, options)
  return toCurrent(loading)
}

/**
 * `true`: one statement locks and reads the rows. A row that a concurrent write inserts while the lock is awaited is
 * not in its snapshot. `all rows`: the rows are read by a statement of their own after the lock.
 */
type Locking = boolean | 'all rows'

type LoadOptions = WriteOptions & { readonly locking?: Locking }

/** All columns of the rows that match. */
export async function readRows(
  match: Tuples | Below,
  { transaction, storage, locking = false }: LoadOptions,
): Promise<readonly CurrentRow[]> {
  if ('rows' in match && match.rows.length === 0) return []
  const types = columnsOf(storage, match.table)
  const wanted = [...types.keys()]
  const { rows } = await transaction.run(
    'rows' in match
      ? printSelectAmong(match, wanted, types, locking !== false)
      : printSelectBelow(match, wanted, types),
  )
  return rows.map(row => new Map(wanted.map((column, index) => [column, row[index] ?? null])))
}

async function loadVersions(
  type: ContentType,
  documentIds: readonly string[],
  loading: Loading,
  options: LoadOptions,
): Promise<readonly CurrentRow[]> {
  const { name, documentId } = options.storage.table(type)
  const match = { table: name, columns: [documentId], rows: documentIds.map(id => [id]) }
  const isLockedBefore = options.locking === 'all rows' && hasSeveralRows(type)
  const locked = isLockedBefore ? lockRows(match, options) : undefined
  const [rows] = await Promise.all([
    readRows(match, isLockedBefore ? { ...options, locking: false } : options),
    locked,
  ])
  for (const [id, versions] of groupBy(rows, row => row.get(documentId) ?? null)) {
    loading.rows.set(
      keyOf(type.uid, id),
      versions.toSorted((a, b) => numberIn(a, 'id') - numberIn(b, 'id')),
    )
  }
  return rows
}

/** True if a document of the type may get further rows. */
export const hasSeveralRows = ({ localized, draftAndPublish }: ContentType): boolean =>
  localized || draftAndPublish

async function lockRows(match: Tuples, { transaction, storage }: LoadOptions): Promise<void> {
  await transaction.run(printSelectAmong(match, ['id'], columnsOf(storage, match.table), true))
}

/** The attributes that any of the documents writes. */
function attributesOf(type: ContentType, documents: readonly DesiredDocument[]): readonly Attribute[] {
  const named = new Set(
    documents.flatMap(({ versions }) => versions.flatMap(({ values }) => [...values.keys()])),
  )
  return [...type.attributes.values()].filter(({ name }) => named.has(name))
}

/** Whose links and components are meant: those of rows, or of all rows of a document. */
type Owners = { readonly rows: readonly CurrentRow[] } | { readonly documentId: string }

async function loadParts(
  holder: Holder,
  owners: Owners,
  attributes: readonly Attribute[],
  loading: Loading,
  options: WriteOptions,
): Promise<void> {
  // Asked for at the same moment, they go out in one round trip.
  await Promise.all(
    attributes.flatMap(attribute => [
      ...(isTableLinked(attribute) ? [loadLinks(holder, owners, attribute, loading, options)] : []),
      ...componentsOf(attribute).map(component =>
        loadComponents({ holder, attribute, component }, owners, loading, options),
      ),
    ]),
  )
}

/** True for attributes whose links are stored in a link table of this side. */
export const isTableLinked = (attribute: Attribute): boolean =>
  (attribute.kind === 'relation' && attribute.side === 'owner' && attribute.many) ||
  (attribute.kind === 'media' && attribute.many)

export function tableLinkOf(
  holder: Holder,
  attribute: string,
  { storage }: Pick<WriteOptions, 'storage'>,
): TableLink {
  const link = storage.link(holder, attribute)
  if (link.kind === 'column') throw new TypeError(`${holder.uid}.${attribute} has no table of its own`)
  return link
}

async function loadLinks(
  holder: Holder,
  owners: Owners,
  attribute: Attribute,
  loading: Loading,
  options: WriteOptions,
): Promise<void> {
  const link = tableLinkOf(holder, attribute.name, options)
  const columns = link.owner.map(([column]) => column)
  const own = link.owner.map(([, column]) => column)
  const found = await readRows(
    { table: link.table, columns, ...ownersOf(holder, owners, own, options) },
    options,
  )
  for (const row of found) {
    const key = keyOf(link.table, ...columns.map(column => row.get(column) ?? null))
    push(loading.links, key, row)
  }
}

interface Part {
  readonly holder: Holder
  readonly attribute: Attribute
  readonly component: Component
}

async function loadComponents(
  { holder, attribute, component }: Part,
  owners: Owners,
  loading: Loading,
  options: WriteOptions,
): Promise<void> {
  const table = options.storage.componentTable(component)
  const key = holder.holder === 'component' ? 'id' : options.storage.table(holder).key
  const name = ownerName(holder, attribute.name)
  const owned = ownersOf(holder, owners, [key], options)
  const match =
    'rows' in owned
      ? { columns: [table.owner, table.ownerKey], rows: owned.rows.map(each => [name, ...each]) }
      : { columns: [table.ownerKey], owners: owned.owners, named: [table.owner, name] as const }
  const rows = await readRows({ table: table.name, ...match }, options)
  for (const row of rows)
    push(loading.components, keyOf(name, numberIn(row, table.ownerKey)), { component, row })
  if (rows.length > 0)
    await loadParts(component, { rows }, [...component.attributes.values()], loading, options)
}

/** The distinct values of these columns in the owners' rows; for a document whose rows are not loaded, a subquery. */
function ownersOf(
  holder: Holder,
  owners: Owners,
  columns: readonly string[],
  { storage }: WriteOptions,
): Pick<Tuples, 'rows'> | Pick<Below, 'owners'> {
  if ('rows' in owners) {
    const tuples = owners.rows.map(row => columns.map(column => row.get(column) ?? null))
    return { rows: [...new Map(tuples.map(each => [keyOf(...each), each])).values()] }
  }
  if (holder.holder === 'component') throw new TypeError(`${holder.uid} is no document`)
  const { name, documentId } = storage.table(holder)
  return { owners: { table: name, columns, documentId, is: owners.documentId } }
}

function push<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}
