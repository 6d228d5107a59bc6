import { groupBy } from '../../../core/base/plain-data.ts'
import type { LinkAttribute } from '../../../core/model/model.ts'
import type { StreamedLink, StreamedTarget } from '../../transfer/stream.ts'
import {
  type AttributePair,
  type HolderPair,
  isOwner,
  joinColumn,
  morphColumns,
  usesColumn,
} from '../field-mapping.ts'
import type { RowLocation } from '../row-index.ts'
import { snakeCase } from '../strapi-names.ts'
import { textAt } from './literal-value.ts'
import { FILES } from './present-files.ts'
import type { Drafts, ReadHolder } from './read-options.ts'
import { numberAt } from './source.ts'

/** A link between two rows of Strapi. */
interface FoundLink {
  readonly owner: number
  readonly target: number
  /** The owner's position in the list of the other side. */
  readonly order: number | null
}

/** The relations that this side stores. */
export async function readRelations(pair: HolderPair, drafts: Drafts, holding: ReadHolder): Promise<void> {
  for (const each of pair.attributes) {
    if (each.ours.kind !== 'relation' || each.ours.side !== 'owner' || !isOwner(each)) continue
    const links = usesColumn(each)
      ? await columnLinks(pair, each, drafts, holding)
      : await tableLinks(pair, each, drafts, holding)
    put(links, { pair, each, uid: textAt(each.declared, 'target') ?? '' }, drafts, holding)
  }
}

async function columnLinks(
  pair: HolderPair,
  attribute: AttributePair,
  drafts: Drafts,
  { source, names }: ReadHolder,
): Promise<readonly FoundLink[]> {
  const column = joinColumn(attribute) ?? `${snakeCase(attribute.name)}_id`
  const rows = await source.read({
    table: names.table(pair.collectionName),
    columns: ['id', column],
    among: { column: 'id', values: [...drafts.keys()] },
  })
  return rows.flatMap(row => {
    const [owner, target] = [numberAt(row, 'id'), numberAt(row, column)]
    return owner === null || target === null ? [] : [{ owner, target, order: null }]
  })
}

const ORDER = /_ord(?:er)?$/

/** The columns of a join table by position: Strapi's column names vary, but not their order. */
async function tableLinks(
  pair: HolderPair,
  attribute: AttributePair,
  drafts: Drafts,
  { source, names, lose }: ReadHolder,
): Promise<readonly FoundLink[]> {
  const table = names.links(names.table(pair.collectionName), attribute.name)
  const [, ownerColumn, targetColumn, ...orders] = source.tables.get(table)?.map(({ name }) => name) ?? []
  if (ownerColumn === undefined || targetColumn === undefined) {
    lose({ of: `${pair.uid} ${attribute.name}`, why: `there is no table ${table}` })
    return []
  }
  const ordering = orders.filter(name => ORDER.test(name))
  const isMany = /Many$/.test(textAt(attribute.declared, 'relation') ?? '')
  const [order, inverse] = isMany ? ordering : [undefined, ordering[0]]
  const rows = await source.read({
    table,
    columns: [ownerColumn, targetColumn, ...ordering],
    among: { column: ownerColumn, values: [...drafts.keys()] },
    orderBy: [ownerColumn, ...(order === undefined ? [] : [order]), 'id'],
  })
  return rows.flatMap(row => {
    const [owner, target] = [numberAt(row, ownerColumn), numberAt(row, targetColumn)]
    const place = inverse === undefined ? null : numberAt(row, inverse)
    return owner === null || target === null ? [] : [{ owner, target, order: place }]
  })
}

/** Links of relations that Plinth has not, as json: `[{ "id": 3, "type": "api::page.page", "documentId": "…" }]`. */
export async function readLinkRecords(pair: HolderPair, drafts: Drafts, holding: ReadHolder): Promise<void> {
  for (const { name, declared, ours } of pair.attributes) {
    if (ours.kind !== 'scalar' || textAt(declared, 'type') !== 'relation') continue
    const { ownerColumn, targetColumn, typeColumn, ...stored } = recordsOf(pair, { name, declared }, holding)
    const rows = await holding.source.read({
      table: stored.table,
      columns: [ownerColumn, targetColumn, ...(typeColumn === '' ? [] : [typeColumn])],
      among: { column: ownerColumn, values: [...drafts.keys()] },
      orderBy: [ownerColumn, ...stored.orders],
    })
    const links = rows.filter(row => numberAt(row, targetColumn) !== null)
    for (const [owner, own] of groupBy(links, row => numberAt(row, ownerColumn))) {
      const draft = owner === null ? undefined : drafts.get(owner)
      if (draft === undefined) continue
      draft[ours.name] = own.map(row => {
        const id = numberAt(row, targetColumn)
        const type = row.get(typeColumn) ?? textAt(declared, 'target')
        const documentId =
          id === null ? undefined : holding.index.types.get(type ?? '')?.rows.get(id)?.documentId
        return { id, ...(type !== undefined && { type }), ...(documentId !== undefined && { documentId }) }
      })
    }
  }
}

/** Where Strapi keeps the links of a relation: in a table of their own, or in two columns of the holder. */
interface StoredRecords {
  readonly table: string
  readonly ownerColumn: string
  readonly targetColumn: string
  /** Empty: all links lead to one content-type. */
  readonly typeColumn: string
  /** The columns that the links of one holder are sorted by. */
  readonly orders: readonly string[]
}

function recordsOf(
  { collectionName }: HolderPair,
  { name, declared }: Pick<AttributePair, 'name' | 'declared'>,
  { source, names }: ReadHolder,
): StoredRecords {
  const own = names.table(collectionName)
  if (textAt(declared, 'relation') === 'morphToOne') {
    const { id, type } = morphColumns(declared)
    return { table: own, ownerColumn: 'id', targetColumn: id, typeColumn: type, orders: [] }
  }
  const table = [names.links(own, name), names.morphs(own, name)].find(each => source.tables.has(each)) ?? ''
  const columns = source.tables.get(table)?.map(column => column.name) ?? []
  const [, ownerColumn = '', targetColumn = ''] = columns
  const typeColumn = columns.find(column => column.endsWith('_type')) ?? ''
  const orders = columns.filter(column => column === 'order' || ORDER.test(column))
  return { table, ownerColumn, targetColumn, typeColumn, orders: [...orders, 'id'] }
}

/** Reads the files of all media attributes of a holder. */
export async function readMediaLinks(pair: HolderPair, drafts: Drafts, holding: ReadHolder): Promise<void> {
  const media = pair.attributes.filter(({ ours }) => ours.kind === 'media')
  if (media.length === 0) return
  const { source, names } = holding
  const rows = await source.read({
    table: names.media,
    columns: ['related_id', 'file_id', 'upload_file_id', 'related_type', 'field'],
    among: { column: 'related_id', values: [...drafts.keys()] },
    orderBy: ['related_id', 'field', 'order', 'id'],
  })
  for (const each of media) {
    const own = rows.filter(row => row.get('related_type') === pair.uid && row.get('field') === each.name)
    const links = own.flatMap(row => {
      const target = numberAt(row, 'file_id') ?? numberAt(row, 'upload_file_id')
      const owner = numberAt(row, 'related_id')
      return owner === null || target === null ? [] : [{ owner, target, order: null }]
    })
    put(links, { pair, each, uid: FILES }, drafts, holding)
  }
}

interface Linking {
  readonly pair: HolderPair
  readonly each: AttributePair
  /** Strapi's uid of the target. */
  readonly uid: string
}

/** Adds links to the values of their owners. */
function put(
  links: readonly FoundLink[],
  { pair, each: { name, ours }, uid }: Linking,
  drafts: Drafts,
  holding: ReadHolder,
): void {
  if (ours.kind !== 'relation' && ours.kind !== 'media') return
  for (const [owner, own] of groupBy(links, link => link.owner)) {
    const draft = drafts.get(owner)
    const targets = own.flatMap(link => targetOf(link, uid, ours, holding))
    if (targets.length < own.length)
      holding.lose({ of: `${pair.uid} ${name}`, why: `it leads to a \`${uid}\` that did not come over` })
    for (const link of own)
      if (isInvisible(link, uid, holding)) holding.lose({ of: `${pair.uid} ${name}`, why: NO_LOCALE })
    const kept = ours.many ? merged(targets) : oneOf(merged(targets))
    const written = kept.map(toLink)
    if (draft !== undefined && written.length > 0)
      draft[ours.name] = ours.many || written.length > 1 ? written : written[0]
  }
}

const NO_LOCALE =
  'it leads to a document without a version in the locale of its holder: the link is kept, and shows when there is one'

/** In Strapi 4, documents of one locale may lead to those of others; here a link has the locale of its holder. */
function isInvisible(
  { owner, target }: FoundLink,
  uid: string,
  { index, root, locales }: ReadHolder,
): boolean {
  const type = index.types.get(uid)
  const { documentId = '', locale = null } = type?.rows.get(target) ?? {}
  if (!root.localized || locale === null) return false
  const rows = type?.documents.get(documentId) ?? []
  return !rows.some(id => type?.rows.get(id)?.locale === locales.get(owner))
}

/** A link has the target's locale and status only if its owner has none. */
function targetOf(
  { target, order }: FoundLink,
  uid: string,
  ours: LinkAttribute,
  { index, root }: ReadHolder,
): readonly StreamedTarget[] {
  const place: RowLocation | undefined = index.types.get(uid)?.rows.get(target)
  if (place === undefined) return []
  const { documentId, locale, linked } = place
  const isInOrder = order !== null && ours.kind === 'relation' && ours.counterpart?.many === true
  return [
    {
      documentId,
      ...(locale !== null && !root.localized ? { locale } : {}),
      ...(linked !== undefined && !root.draftAndPublish ? { status: linked } : {}),
      ...(isInOrder ? { order } : {}),
    },
  ]
}

/** Joins links to the draft and the published version of a document, and removes duplicates. */
function merged(targets: readonly StreamedTarget[]): readonly StreamedTarget[] {
  const found = new Map<string, StreamedTarget>()
  for (const target of targets) {
    const key = `${target.documentId} ${target.locale ?? ''}`
    const other = found.get(key)
    if (other === undefined) found.set(key, target)
    else if (other.status !== undefined && other.status !== target.status) {
      const { status: _, ...both } = other
      found.set(key, both)
    }
  }
  return [...found.values()]
}

/** Strapi's tables may contain several links of a to-one relation: the first one per status is used. */
function oneOf(targets: readonly StreamedTarget[]): readonly StreamedTarget[] {
  const [first] = targets
  if (first === undefined || first.status === undefined) return targets.slice(0, 1)
  const other = targets.find(({ status }) => status !== undefined && status !== first.status)
  return other === undefined ? [first] : [first, other]
}

const toLink = (target: StreamedTarget): StreamedLink =>
  Object.keys(target).length === 1 ? target.documentId : target
