import type { Transaction } from '../database/database.ts'
import type { ContentType } from '../model/model.ts'
import type { PermittedCommand, StatusCommand } from '../query/command.ts'
import type { Status } from '../query/query.ts'
import type { Tell } from './outbox.ts'
import type { Current } from './write-load.ts'
import type { CurrentRow } from './write-rows.ts'
import type { WriteTerms } from './write-terms.ts'

export type StatusTerms = WriteTerms & { readonly transaction: Transaction; readonly tell: Tell }

/** A version of a type with drafts, whatever its status. */
export interface VersionName {
  readonly type: ContentType
  readonly documentId: string
  /** null exactly on types without locales. */
  readonly locale: string | null
}

/** Changes the status of one version, whose draft is there; tells whether there was anything to change. */
export type VersionChange = (
  version: VersionName,
  command: PermittedCommand<StatusCommand>,
  terms: StatusTerms,
) => Promise<boolean>

/** A version's row of one status. */
export const rowOf = (
  { type, documentId, locale }: VersionName,
  status: Status,
  current: Current,
): CurrentRow | undefined =>
  current
    .rows(type, documentId)
    .find(row => row.get('status') === status && (!type.localized || row.get('locale') === locale))
