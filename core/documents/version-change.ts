import type { Transaction } from '../database/database.ts'
import type { Attribute, ContentType } from '../model/model.ts'
import type { PermittedCommand, StatusCommand } from '../query/command.ts'
import type { Status } from '../query/query.ts'
import type { RecordChange } from './outbox.ts'
import type { Current } from './rows/write-load.ts'
import type { WriteTerms } from './rows/write-terms.ts'
import type { CurrentRow } from './sql/write-rows.ts'

export type StatusTerms = WriteTerms & { readonly transaction: Transaction; readonly tell: RecordChange }

/** A version of a type with drafts, whatever its status. */
export interface VersionName {
  readonly type: ContentType
  readonly documentId: string
  /** null exactly on types without locales. */
  readonly locale: string | null
}

/** null on types without locales. */
export type LocaleName = string | null

/** Versions of one document. */
export interface Versions extends Omit<VersionName, 'locale'> {
  /** Locales whose status changes. Each has a draft. */
  readonly locales: readonly LocaleName[]
  /** The stored state, with all attributes that the change needs. */
  readonly current: Current
}

/** One kind of status change. */
export interface VersionChange {
  /** Attributes to load before the change. */
  attributes(type: ContentType): readonly Attribute[]
  /** Resolves to the locales that changed. */
  change(
    versions: Versions,
    command: PermittedCommand<StatusCommand>,
    terms: StatusTerms,
  ): Promise<readonly LocaleName[]>
}

/** A version's row of one status. */
export const rowOf = (
  { type, documentId, locale }: VersionName,
  status: Status,
  current: Current,
): CurrentRow | undefined =>
  current
    .rows(type, documentId)
    .find(row => row.get('status') === status && (!type.localized || row.get('locale') === locale))
