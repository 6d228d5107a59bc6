import type { Attribute, ContentType } from '../../model/model.ts'
import type { ColumnLink } from '../../model/storage.ts'
import type { Status } from '../../query/query.ts'
import {
  type DesiredCell,
  type DesiredDocument,
  type DesiredValue,
  type DesiredVersion,
  Slot,
  type Values,
} from '../desired-state.ts'
import {
  type Changes,
  type Columns,
  type CurrentRow,
  changedColumns,
  newId,
  numberIn,
  type RowId,
} from '../sql/write-rows.ts'
import { coordinatesOf, newColumns, stampsOf, writtenStamps } from './new-version.ts'
import {
  type ChangedParts,
  isShared,
  type Owner,
  type Planning,
  type Shared,
  type Version,
} from './planning.ts'
import { changesOf, columnsOfValues, type InversePlaces } from './write-columns.ts'
import { planParts } from './write-components.ts'

/** Plans all rows of a document, their components and their links. Inverse relations are written afterwards. */
export function planDocument(document: DesiredDocument<Slot>, planning: Planning): void {
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

function sharedValues({ type, versions }: DesiredDocument<Slot>): Shared {
  const shared = new Map<Status, Values<Slot>>()
  if (!type.localized) return shared
  for (const { statuses, values } of versions) {
    for (const status of statuses) {
      const common = new Map(shared.get(status))
      for (const [name, value] of values)
        if (isShared(type, type.attributes.get(name))) common.set(name, value)
      shared.set(status, common)
    }
  }
  return shared
}

function planAllParts(
  document: DesiredDocument<Slot>,
  versions: readonly Version[],
  shared: Shared,
  planning: Planning,
): ChangedParts {
  const { type } = document
  const own = document.versions.flatMap(version => {
    const values = new Map<string, DesiredValue<Slot>>()
    for (const [name, value] of version.values)
      if (value.kind !== 'scalar' && !isShared(type, type.attributes.get(name)) && !isEdited(value))
        values.set(name, value)
    const changed = planParts(type, values, ownerOf(document, version, versions, planning), planning)
    planEdits(document, version, planning)
    return changed.length === 0 ? [] : [{ locale: version.locale, statuses: version.statuses }]
  })
  const common = document.versions.flatMap((version, index) => {
    const earlier = document.versions.slice(0, index).flatMap(each => each.statuses)
    const statuses = version.statuses.filter(status => !earlier.includes(status))
    const values = shared.get(statuses[0] ?? 'published')
    if (statuses.length === 0 || !values) return []
    const owner = ownerOf(document, { locale: version.locale, statuses }, versions, planning)
    return planParts(type, values, owner, planning).length === 0 ? [] : [{ locale: null, statuses }]
  })
  return [...own, ...common]
}

const isEdited = (
  value: DesiredValue<Slot>,
): value is Extract<DesiredValue<Slot>, { readonly kind: 'links' }> =>
  value.kind === 'links' && value.edit !== undefined

/** Lists of its own that stay in the database: they are edited once its rows are there. */
function planEdits(
  { type, documentId }: DesiredDocument<Slot>,
  version: DesiredVersion<Slot>,
  { changes }: Planning,
): void {
  const { locale, statuses, values } = version
  const publishes = type.draftAndPublish && statuses.includes('published')
  for (const [name, value] of values) {
    const attribute = type.attributes.get(name)
    if (!isEdited(value) || !value.edit || attribute?.kind !== 'relation' || attribute.side === 'inverse')
      continue
    if (documentId instanceof Slot) throw new TypeError('a template cannot edit a stored list')
    changes.edits.push({ type, attribute, documentId, locale, edit: value.edit, publishes })
  }
}

function ownerOf(
  { type, documentId }: DesiredDocument<Slot>,
  { locale, statuses }: Pick<DesiredVersion, 'locale' | 'statuses'>,
  versions: readonly Version[],
  planning: Planning,
): Owner {
  const rows = statuses.flatMap(status =>
    versions.filter(each => each.locale === locale && each.status === status),
  )
  return { root: type, key: keyOf(type, documentId, planning), locale, rows }
}

function keyOf(type: ContentType, documentId: string | Slot, { keys }: Planning): RowId {
  const key = keys(type, documentId)
  if (key === undefined) throw new TypeError(`a document of ${type.uid} has no key`)
  return key
}

interface VersionTask {
  readonly document: DesiredDocument<Slot>
  readonly version: Version
  readonly shared: Shared
  readonly changed: ChangedParts
  readonly places: InversePlaces
  /** Publishing changes what all locales share: the stamps of it move in drafts too, so that they stay alike. */
  readonly allMoved: boolean
}

function planVersion(task: VersionTask, versions: readonly Version[], planning: Planning): void {
  const { document, version, shared, places, allMoved } = task
  const { type, documentId } = document
  const { changes } = planning
  const table = tableOf(type, planning)
  const values = withShared(version.values, shared.get(version.status))
  const key = keyOf(type, documentId, planning)
  const owner: Owner = { root: type, key, locale: version.locale, rows: [version] }
  const planned = columnsOfValues(type, values, { owner, row: version }, planning)
  const { columns, relinked } = changesOf(planned, version.row, table, places)
  const coordinates = coordinatesOf(type, version, planning)
  for (const each of relinked) releaseFormer(each, { table, row: version.row, columns, coordinates }, changes)
  if (version.row === undefined) {
    const all = new Map(newColumns({ document, version, owner, versions, allMoved }, planning))
    for (const [column, value] of columns) all.set(column, value)
    changes.inserts.push({ table, columns: all })
    return
  }
  const stamps = version.written
    ? changedColumns(version.row, new Map(writtenStamps(type, version.written)))
    : stampsOf({ ...task, type, versions, columns: new Set(columns.keys()) }, planning.options)
  const all = new Map([...columns, ...stamps])
  const id = new Map([['id', numberIn(version.row, 'id')]])
  if (all.size > 0) changes.updates.push({ table, key: id, columns: all })
}

function withShared(own: Values<Slot> | undefined, shared: Values<Slot> | undefined): Values<Slot> {
  if (!shared) return own ?? NO_VALUES
  const values = new Map(own)
  for (const [name, value] of shared) values.set(name, value)
  return values
}

const NO_VALUES: Values<Slot> = new Map()

/** The columns of a link that identify its version: status and locale, as far as the type has them. */
type Coordinates = ReadonlyMap<string, DesiredCell>

/** A version whose link changes. `columns`: those that change of a stored row, all of a new one. */
interface Relinked {
  readonly table: string
  readonly row: CurrentRow | undefined
  readonly columns: Columns
  readonly coordinates: Coordinates
}

/** reference/documents.md#13-exclusive-relations: within one status and locale a two-way one-to-one has one owner; a new one takes it from the former. */
function releaseFormer(
  { attribute, link }: { readonly attribute: Attribute; readonly link: ColumnLink },
  { table, row, columns, coordinates }: Relinked,
  changes: Changes,
): void {
  if (attribute.kind !== 'relation' || attribute.relation !== 'oneToOne' || attribute.counterpart === null)
    return
  const slots = [
    [link.key, link.locale],
    [link.draftKey, link.draftLocale],
  ] as const
  for (const [key, locale] of slots) {
    if (key === null || !(columns.has(key) || (locale !== null && columns.has(locale)))) continue
    const cellOf = (column: string) => (columns.has(column) ? columns.get(column) : row?.get(column))
    const target = cellOf(key)
    if (typeof target !== 'number' && !(target instanceof Slot)) continue
    const named = locale === null ? undefined : cellOf(locale)
    const holding = new Map<string, DesiredCell>([[key, target], ...coordinates])
    if (locale !== null && typeof named === 'string') holding.set(locale, named)
    changes.releases.push({ table, holding, columns: [key, ...(locale === null ? [] : [locale])] })
  }
}

/** All versions of a document: those that are written, then those that only take part in what locales share. */
function versionsOf(document: DesiredDocument<Slot>, planning: Planning): readonly Version[] {
  const { type, documentId } = document
  const rows = planning.current.rows(type, documentId)
  const key = planning.keys(type, documentId)
  const covered = document.versions.flatMap(({ locale, statuses, values, publishing, rows: input }) =>
    statuses.map(status => ({
      locale,
      status,
      values,
      publishing,
      written: input?.get(status),
      row: rows.find(row => isVersion(type, row, locale, status)),
    })),
  )
  const versions = covered.map((version, index): Version => {
    const first = index === 0 && rows.length === 0 ? key : undefined
    return {
      ...version,
      id: version.row
        ? numberIn(version.row, 'id')
        : (version.written?.id ?? first ?? newId(tableOf(type, planning))),
    }
  })
  const others = rows.filter(row => !covered.some(each => each.row === row))
  return [...versions, ...others.map(row => untouched(row))]
}

const tableOf = (type: ContentType, { options }: Planning): string => options.storage.table(type).name

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
