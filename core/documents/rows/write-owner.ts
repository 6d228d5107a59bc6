import type { ContentType } from '../../model/model.ts'
import type { Status } from '../../query/query.ts'
import type { Changes, RowId } from '../sql/write-rows.ts'
import type { Keys } from './write-keys.ts'
import type { Current } from './write-load.ts'
import type { WriteTerms } from './write-terms.ts'

/** What planning knows, and what it fills. */
export interface Planning {
  readonly current: Current
  readonly keys: Keys
  readonly terms: WriteTerms
  readonly changes: Changes
}

/** Versions of a document that are written alike, or a component in them. */
export interface Owner {
  readonly root: ContentType
  /** The document's key; a component's id. */
  readonly key: RowId
  readonly locale: string | null
  /** The rows covered; each with the id of its own (a component has one id in all statuses). */
  readonly rows: readonly OwnerRow[]
}

export interface OwnerRow {
  readonly status: Status
  readonly id: RowId
}
