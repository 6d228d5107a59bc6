import type { Attribute, ContentType } from '../../model/model.ts'
import type { DesiredDocument, DesiredVersion, Slot } from '../desired-state.ts'
import type { Parameters } from '../links/inverse-sql.ts'
import type { WritePlanOptions } from '../rows/write-options.ts'
import type { Sequences } from '../sql/known-sequences.ts'
import type { ReturningQuery } from '../sql/print-changes.ts'
import type { TableColumns } from '../sql/write-print.ts'

/**
 * What happens to the published row:
 * `none`: nothing, as the write is of the draft, or of a type without drafts.
 * `both`: it is asserted to have the draft's values and lists, and one UPDATE changes both rows.
 * `copied`: it is asserted to be there with the draft's lists, and gets the draft's values.
 * `begins`: it is asserted not to be there, by its unique index.
 */
export type Publication = 'none' | 'both' | 'copied' | 'begins'

export interface StoredUpdate {
  /** Of one version, with the values that are given, none of which locales share. Its components are all new. */
  readonly document: DesiredDocument<Slot>
  readonly publication: Publication
  /** Asserts that there is no published row. */
  readonly isUnpublished: boolean
  /** Lists that statements after this one edit, and copy to the published version. */
  readonly edited: readonly Attribute[]
  /** Attributes of which the stored value has to fulfil all rules. */
  readonly ruled: readonly Attribute[]
  /** Columns of generated values, which must not be empty. */
  readonly filled: readonly string[]
}

export interface StoredUpdateOptions extends WritePlanOptions {
  readonly returning: ReturningQuery<Slot> | undefined
  readonly sequences: Sequences
}

/** One update while its statement is printed. */
export interface Printing {
  readonly type: ContentType
  readonly version: DesiredVersion<Slot>
  readonly publication: Publication
  readonly options: StoredUpdateOptions
  readonly types: TableColumns
  readonly parameters: Parameters
  readonly now: string
}
