import type { ContentType } from '../../model/model.ts'
import type { DesiredDocument, DesiredRow, Stored } from '../desired-state.ts'
import type { RowValue } from '../sql/write-rows.ts'
import type { Owner, Planning } from './planning.ts'
import { isShared, type Version } from './planning.ts'

export interface NewVersion {
  readonly document: DesiredDocument
  readonly version: Version
  readonly owner: Owner
  /** Of the document. */
  readonly versions: readonly Version[]
  /** What all locales share is another from now on. */
  readonly allMoved: boolean
}

/** What a row says of itself. */
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
  readonly createdAt: Stored
  readonly sharedAt: Stored
  readonly now: string
}

const newStamps = (
  type: ContentType,
  { version, createdAt, sharedAt, now }: Moment,
): readonly [string, Stored][] => [
  ['created_at', createdAt],
  ['updated_at', now],
  ['published_at', version.status === 'published' ? (version.publishing?.at ?? now) : null],
  ...(type.draftAndPublish && type.localized ? [['shared_updated_at', sharedAt] as [string, Stored]] : []),
]

/** What the row of a new version starts with. */
export const newColumns = (made: NewVersion, planning: Planning): readonly [string, RowValue][] => [
  ...copied(made, planning),
  ...identity(made, planning),
]

/** What tells a version from the others of its document, as far as the type has it. */
export function coordinatesOf(
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
  { document: { type }, version, versions }: NewVersion,
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
  { owner, document: { type, documentId }, version, versions, allMoved }: NewVersion,
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
    ...(version.written
      ? writtenStamps(type, version.written)
      : newStamps(type, { version, createdAt: sibling?.get('created_at') ?? now, sharedAt, now })),
  ]
}
