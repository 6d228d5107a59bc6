import type { ContentType, RelationAttribute } from '../model/model.ts'
import type { Status } from '../query/query.ts'
import { readRows } from './write-load.ts'
import type { CurrentRow } from './write-rows.ts'
import type { WriteTerms } from './write-terms.ts'
import type { WrittenVersion } from './written.ts'

/** Links that were written from the side that does not store them: the owners of one attribute, of one version. */
export interface InverseLinks {
  /** The document written from, which the owners' links lead to. */
  readonly key: number
  readonly type: ContentType
  readonly version: Pick<WrittenVersion, 'locale' | 'statuses'>
  /** In order; each with the version of the owner where only owners have versions (null: the default locale, any status). */
  readonly owners: readonly {
    readonly key: number
    readonly locale: string | null
    readonly status: Status | null
  }[]
}

export interface Inverse {
  readonly attribute: RelationAttribute
  /** The type whose rows store the links. */
  readonly owner: ContentType
  readonly links: readonly InverseLinks[]
  readonly terms: WriteTerms
}

/** The rows of the documents that are to own a link. */
export function readOwners({ owner, links, terms }: Inverse): Promise<readonly CurrentRow[]> {
  const table = terms.storage.table(owner)
  const keys = [...new Set(links.flatMap(({ owners }) => owners.map(({ key }) => key)))]
  return readRows({ table: table.name, columns: [table.key], rows: keys.map(key => [key]) }, terms)
}

/** Statuses of owners' rows that a write of the other side reaches. */
const ownerStatuses = (owner: ContentType, { type, version }: InverseLinks): readonly Status[] =>
  owner.draftAndPublish && type.draftAndPublish ? version.statuses : ['draft', 'published']

/** Statuses that owners' links have to name. [null]: they name none. */
export const linkStatuses = (
  owner: ContentType,
  { type, version }: InverseLinks,
): readonly (Status | null)[] => (!owner.draftAndPublish && type.draftAndPublish ? version.statuses : [null])

/** The locale that owners' links have to name; null: they name none. */
export const linkLocale = (owner: ContentType, { type, version }: InverseLinks): string | null =>
  !owner.localized && type.localized ? version.locale : null

/** Whether a row of an owner is one that the write reaches at all. */
export function isReached(owner: ContentType, row: CurrentRow, links: InverseLinks): boolean {
  if (owner.draftAndPublish && !ownerStatuses(owner, links).some(status => status === row.get('status')))
    return false
  return !(owner.localized && links.type.localized) || row.get('locale') === links.version.locale
}

/** The place in the list of the owner that a row belongs to; -1: it is not to be linked. */
export function indexOfOwner({ owner, terms }: Inverse, row: CurrentRow, links: InverseLinks): number {
  const table = terms.storage.table(owner)
  const versioned = owner.draftAndPublish && !links.type.draftAndPublish
  return links.owners.findIndex(({ key, locale, status }) => {
    if (row.get(table.key) !== key) return false
    if (versioned && status !== null && row.get('status') !== status) return false
    return !owner.localized || links.type.localized || row.get('locale') === (locale ?? terms.defaultLocale)
  })
}
