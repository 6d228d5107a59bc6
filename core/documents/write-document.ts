import type { ContentType } from '../model/model.ts'
import type { Status } from '../query/query.ts'
import { changesOf, columnsOfValues, type InversePlaces } from './write-columns.ts'
import { planParts } from './write-components.ts'
import { releaseFormer } from './write-exclusive.ts'
import type { Owner, Planning } from './write-owner.ts'
import { type CurrentRow, changedColumns, newId, numberIn, type RowId, type RowValue } from './write-rows.ts'
import { stampsOf } from './write-stamps.ts'
import { type ChangedParts, isShared, type Shared, type Version } from './write-versions.ts'
import type { Stored, Values, WrittenDocument, WrittenVersion } from './written.ts'

/** Plans all rows of a document, their components and their links. Inverse relations are written afterwards. */
export function planDocument(document: WrittenDocument, planning: Planning): void {
  const versions = versionsOf(document, planning)
  const shared = sharedValues(document)
  const changed = planAllParts(document, versions, shared, planning)
  const places: InversePlaces = new Map()
  const allMoved = shared.size > 1 && movesShared(document.type, shared, changed, versions, planning)
  for (const version of versions)
    planVersion({ document, version, shared, changed, places, allMoved }, versions, planning)
}

function movesShared(
  type: ContentType,
  shared: Shared,
  changed: ChangedParts,
  versions: readonly Version[],
  planning: Planning,
): boolean {
  if (!type.draftAndPublish || !type.localized) return false
  if (changed.some(({ locale }) => locale === null)) return true
  return versions.some(version => {
    const values = shared.get(version.status)
    if (version.row === undefined || values === undefined) return false
    const owner: Owner = { root: type, key: version.id, locale: version.locale, rows: [version] }
    const { columns } = columnsOfValues(type, values, { owner, row: version }, planning)
    return changedColumns(version.row, columns).size > 0
  })
}

function versionsOf(document: WrittenDocument, planning: Planning): readonly Version[] {
  const { type, documentId } = document
  const rows = planning.current.rows(type, documentId)
  const key = planning.keys(type, documentId)
  const covered = document.versions.flatMap(({ locale, statuses, values }) =>
    statuses.map(status => ({
      locale,
      status,
      values,
      row: rows.find(row => isVersion(type, row, locale, status)),
    })),
  )
  const versions = covered.map((version, index): Version => {
    const first = index === 0 && rows.length === 0 ? key : undefined
    return {
      ...version,
      id: version.row ? numberIn(version.row, 'id') : (first ?? newId(tableOf(type, planning))),
    }
  })
  const others = rows.filter(row => !covered.some(each => each.row === row))
  return [...versions, ...others.map(row => untouched(row))]
}

const tableOf = (type: ContentType, { terms }: Planning): string => terms.storage.table(type).name

const statusOf = (row: CurrentRow): Status => (row.get('status') === 'draft' ? 'draft' : 'published')

const localeIn = (row: CurrentRow): string | null => {
  const locale = row.get('locale')
  return typeof locale === 'string' ? locale : null
}

const isVersion = (type: ContentType, row: CurrentRow, locale: string | null, status: Status): boolean =>
  (!type.localized || localeIn(row) === locale) && (!type.draftAndPublish || statusOf(row) === status)

const untouched = (row: CurrentRow): Version => ({
  id: numberIn(row, 'id'),
  status: statusOf(row),
  locale: localeIn(row),
  row,
  values: undefined,
})

function sharedValues({ type, versions }: WrittenDocument): Shared {
  const shared = new Map<Status, Values>()
  for (const { statuses, values } of versions) {
    const here = [...values].filter(([name]) => isShared(type, type.attributes.get(name)))
    for (const status of statuses) shared.set(status, new Map([...(shared.get(status) ?? []), ...here]))
  }
  return shared
}

function planAllParts(
  document: WrittenDocument,
  versions: readonly Version[],
  shared: Shared,
  planning: Planning,
): ChangedParts {
  const { type } = document
  const own = document.versions.flatMap(version => {
    const values = new Map([...version.values].filter(([name]) => !isShared(type, type.attributes.get(name))))
    const changed = planParts(type, values, ownerOf(document, version, versions, planning), planning)
    return changed.length === 0 ? [] : [{ locale: version.locale, statuses: version.statuses }]
  })
  const [first] = document.versions
  const values = first && shared.get(first.statuses[0] ?? 'published')
  if (!first || !values) return own
  const changed = planParts(type, values, ownerOf(document, first, versions, planning), planning)
  return changed.length === 0 ? own : [...own, { locale: null, statuses: first.statuses }]
}

function ownerOf(
  { type, documentId }: WrittenDocument,
  { locale, statuses }: Pick<WrittenVersion, 'locale' | 'statuses'>,
  versions: readonly Version[],
  planning: Planning,
): Owner {
  const rows = statuses.flatMap(status =>
    versions.filter(each => each.locale === locale && each.status === status),
  )
  return { root: type, key: keyOf(type, documentId, planning), locale, rows }
}

function keyOf(type: ContentType, documentId: string, { keys }: Planning): RowId {
  const key = keys(type, documentId)
  if (key === undefined) throw new TypeError(`document ${documentId} of ${type.uid} has no key`)
  return key
}

interface VersionTask {
  readonly document: WrittenDocument
  readonly version: Version
  readonly shared: Shared
  readonly changed: ChangedParts
  readonly places: InversePlaces
  /** Publishing changes what all locales share: the stamps of it move in drafts too, so that they stay alike. */
  readonly allMoved: boolean
}

function planVersion(task: VersionTask, versions: readonly Version[], planning: Planning): void {
  const { document, version, shared, places } = task
  const { type } = document
  const table = tableOf(type, planning)
  const values = new Map([...(version.values ?? []), ...(shared.get(version.status) ?? [])])
  const owner: Owner = {
    root: type,
    key: keyOf(type, document.documentId, planning),
    locale: version.locale,
    rows: [version],
  }
  const planned = columnsOfValues(type, values, { owner, row: version }, planning)
  const { columns, relinked } = changesOf(planned, version.row, table, places)
  const coordinates = coordinatesOf(type, version, planning)
  for (const each of relinked) releaseFormer(each, { table, columns, coordinates }, planning.changes)
  if (version.row === undefined) {
    const row = new Map([
      ...copied(type, version, versions, planning),
      ...identity(owner, task, versions, planning),
      ...columns,
    ])
    planning.changes.inserts.push({ table, columns: row })
    return
  }
  const all = new Map([
    ...columns,
    ...stampsOf({ ...task, type, columns: new Set(columns.keys()) }, planning.terms),
  ])
  if (all.size > 0)
    planning.changes.updates.push({
      table,
      key: new Map([['id', numberIn(version.row, 'id')]]),
      columns: all,
    })
}

function coordinatesOf(
  type: ContentType,
  { status, locale }: Version,
  { terms }: Planning,
): ReadonlyMap<string, Stored> {
  const table = terms.storage.table(type)
  const coordinates = new Map<string, Stored>()
  if (table.status !== null) coordinates.set(table.status, status)
  if (table.locale !== null) coordinates.set(table.locale, locale)
  return coordinates
}

/** A new locale starts with what all of them share, as it stands in the same status or else in any. */
function copied(
  type: ContentType,
  version: Version,
  versions: readonly Version[],
  { terms }: Planning,
): readonly [string, RowValue][] {
  const others = versions.filter(each => each.row !== undefined)
  const row = (others.find(({ status }) => status === version.status) ?? others[0])?.row
  if (row === undefined || !type.localized) return []
  const columns = [...type.attributes.values()]
    .filter(each => isShared(type, each) && !each.system)
    .flatMap(attribute => {
      if (attribute.kind === 'scalar') return [terms.storage.column(type, attribute.name)]
      if (attribute.kind !== 'media' || attribute.many) return []
      const link = terms.storage.link(type, attribute.name)
      return link.kind === 'column' ? [link.key] : []
    })
  return columns.map(column => [column, row.get(column) ?? null])
}

function identity(
  owner: Owner,
  { document: { type, documentId }, version, allMoved }: VersionTask,
  versions: readonly Version[],
  planning: Planning,
): readonly [string, RowValue][] {
  const { storage, now } = planning.terms
  const sibling = versions.find(({ row, locale }) => row !== undefined && locale === version.locale)?.row
  const table = storage.table(type)
  const sharedAt = allMoved ? now : (sibling?.get('shared_updated_at') ?? now)
  return [
    [table.id, version.id],
    [table.documentId, documentId],
    ...(table.key === 'id' ? [] : [[table.key, owner.key] as [string, RowValue]]),
    ...coordinatesOf(type, version, planning),
    ['created_at', sibling?.get('created_at') ?? now],
    ['updated_at', now],
    ['published_at', version.status === 'published' ? now : null],
    ...(type.draftAndPublish && type.localized
      ? [['shared_updated_at', sharedAt] as [string, RowValue]]
      : []),
  ]
}
