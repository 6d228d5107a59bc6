import type { ContentType } from '../../model/model.ts'
import type { DesiredCell, DesiredDocument, DesiredRow, Slot, Stored, Values } from '../desired-state.ts'
import type { RowValue } from '../sql/write-rows.ts'
import {
  type ChangedParts,
  isShared,
  type Owner,
  type Planning,
  type Shared,
  type Version,
} from './planning.ts'
import type { WritePlanOptions } from './write-options.ts'

export interface NewVersion {
  readonly document: DesiredDocument<Slot>
  readonly version: Version
  readonly owner: Owner
  /** All versions of the document. */
  readonly versions: readonly Version[]
  /** True if a value that all locales share changes. */
  readonly allMoved: boolean
}

/** The time stamps as the desired row gives them. */
export const writtenStamps = (
  type: ContentType,
  { createdAt, updatedAt, publishedAt, sharedUpdatedAt }: DesiredRow,
): readonly [string, Stored][] => [
  ['created_at', createdAt],
  ['updated_at', updatedAt],
  ['published_at', publishedAt],
  ...(type.draftAndPublish && type.localized
    ? [['shared_updated_at', sharedUpdatedAt] as [string, Stored]]
    : []),
]

interface Moment {
  readonly version: Version
  readonly createdAt: DesiredCell
  readonly sharedAt: DesiredCell
  readonly now: string | Slot
}

const newStamps = (
  type: ContentType,
  { version, createdAt, sharedAt, now }: Moment,
): readonly [string, DesiredCell][] => [
  ['created_at', createdAt],
  ['updated_at', now],
  ['published_at', version.status === 'published' ? (version.publishing?.at ?? now) : null],
  ...(type.draftAndPublish && type.localized
    ? [['shared_updated_at', sharedAt] as [string, DesiredCell]]
    : []),
]

/** The columns that the row of a new version starts with. */
export const newColumns = (made: NewVersion, planning: Planning): readonly [string, RowValue][] => [
  ...copied(made, planning),
  ...identity(made, planning),
]

/** The columns that identify a version within its document: status and locale, as far as the type has them. */
export function coordinatesOf(
  type: ContentType,
  { status, locale }: Version,
  { options }: Planning,
): ReadonlyMap<string, Stored> {
  const table = options.storage.table(type)
  const coordinates = new Map<string, Stored>()
  if (table.status !== null) coordinates.set(table.status, status)
  if (table.locale !== null) coordinates.set(table.locale, locale)
  return coordinates
}

/** A new locale starts with the shared values of a version with the same status, or else of any version. */
function copied(
  { document: { type }, version, versions }: NewVersion,
  { options }: Planning,
): readonly [string, RowValue][] {
  const others = versions.filter(each => each.row !== undefined)
  const row = (others.find(({ status }) => status === version.status) ?? others[0])?.row
  if (row === undefined || !type.localized) return []
  const columns = [...type.attributes.values()]
    .filter(each => isShared(type, each) && !each.system)
    .flatMap(attribute => {
      if (attribute.kind === 'scalar') return [options.storage.column(type, attribute.name)]
      if (attribute.kind !== 'media' || attribute.many) return []
      const link = options.storage.link(type, attribute.name)
      return link.kind === 'column' ? [link.key] : []
    })
  return columns.map(column => [column, row.get(column) ?? null])
}

function identity(
  { owner, document: { type, documentId }, version, versions, allMoved }: NewVersion,
  planning: Planning,
): readonly [string, RowValue][] {
  const { storage, now } = planning.options
  const sibling = versions.find(({ row, locale }) => row !== undefined && locale === version.locale)?.row
  const table = storage.table(type)
  const sharedAt = allMoved ? now : (sibling?.get('shared_updated_at') ?? now)
  return [
    [table.id, version.id],
    [table.documentId, documentId],
    ...(table.key === 'id' ? [] : [[table.key, owner.key] as [string, RowValue]]),
    ...coordinatesOf(type, version, planning),
    ...(version.written
      ? writtenStamps(type, version.written)
      : newStamps(type, { version, createdAt: sibling?.get('created_at') ?? now, sharedAt, now })),
  ]
}

interface Stamping {
  readonly type: ContentType
  readonly version: Version
  /** All that are written. */
  readonly versions: readonly Version[]
  readonly shared: Shared
  readonly changed: ChangedParts
  /** True if a shared value changes in some row of the document. */
  readonly allMoved: boolean
  /** The columns of the version's row that change. */
  readonly columns: ReadonlySet<string>
}

/**
 * The stamps that a row gets because something in its version changed, or because it is written at all. What
 * changed for this locale alone, and what changed for all of them, have a stamp each (reference/documents.md#4-time-stamps).
 */
export function stampsOf(
  stamping: Stamping,
  options: WritePlanOptions,
): readonly (readonly [string, RowValue])[] {
  const { type, version } = stamping
  const isCovered = version.values !== undefined
  const written = options.touch && isCovered
  const { own, all: moved } = whatChanged(stamping, options)
  const all = moved || stamping.allMoved
  if (!own && !all && !written) return []
  const twofold = type.draftAndPublish && type.localized
  const names = [
    ...(own || written || (all && !twofold) ? ['updated_at'] : []),
    ...(all && twofold ? ['shared_updated_at'] : []),
  ]
  const stamps = names.map((name): readonly [string, RowValue] => [name, options.now])
  const published = version.status === 'published' && isCovered ? publishedAt(version, options) : []
  return [...stamps, ...published, ...unpublished(stamping, names)]
}

/** The stamp of a draft is null; it is set again together with the published row, in the same statement. */
function unpublished({ version, versions }: Stamping, names: readonly string[]): readonly [string, null][] {
  if (version.status !== 'draft' || version.values === undefined || names.length === 0) return []
  const isTwin = ({ values, status, locale }: Version) =>
    values === version.values && status === 'published' && locale === version.locale
  return versions.some(isTwin) && !keeps(version) ? [['published_at', null]] : []
}

const publishedAt = (
  version: Version,
  { now }: WritePlanOptions,
): readonly (readonly [string, RowValue])[] =>
  keeps(version) ? [] : [['published_at', version.publishing?.at ?? now]]

const keeps = ({ publishing }: Version): boolean => publishing?.keeps === true && publishing.at === undefined

function whatChanged({ type, version, shared, changed, columns }: Stamping, options: WritePlanOptions) {
  const sharedColumns = columnsOf(type, shared.get(version.status), options)
  const parts = changed.filter(({ statuses }) => statuses.includes(version.status))
  const names = [...columns]
  return {
    own:
      parts.some(({ locale }) => locale === version.locale) || names.some(name => !sharedColumns.has(name)),
    all:
      parts.some(({ locale }) => type.localized && locale === null) ||
      names.some(name => sharedColumns.has(name)),
  }
}

function columnsOf(
  type: ContentType,
  values: Values<Slot> | undefined,
  { storage }: WritePlanOptions,
): ReadonlySet<string> {
  const names = [...(values?.keys() ?? [])].flatMap(name => {
    const attribute = type.attributes.get(name)
    if (attribute?.kind === 'scalar') return [storage.column(type, name)]
    if (attribute?.kind !== 'media' || attribute.many) return []
    const link = storage.link(type, name)
    return link.kind === 'column' ? [link.key] : []
  })
  return new Set(names)
}
