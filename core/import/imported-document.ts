import type { DesiredRow, DesiredValue, Values } from '../documents/desired-state.ts'
import type { ContentType } from '../model/model.ts'
import type { Status } from '../query/query.ts'

/** A document as its source has it: values in stored form; a link target's `documentId` is its name in the source. */
export interface ImportedDocument {
  readonly type: ContentType
  /** Links of the source refer to the document by it. */
  readonly name: string
  readonly versions: readonly ImportedVersion[]
  /** Values that all locales share, by status. Empty on types without locales. */
  readonly shared: ReadonlyMap<Status, ImportedPart>
  /** Timestamp of the rows, ISO 8601; absent: the time of the write. */
  readonly at?: string
}

export interface ImportedPart {
  /** Attributes that the source sets. */
  readonly values: Values
  /** Values of other attributes in a version that is created. Existing versions keep theirs. */
  readonly defaults: Values
  /** Equal for equal values. */
  readonly digest: string
}

export interface ImportedVersion extends ImportedPart {
  /** null on types without locales. */
  readonly locale: string | null
  /** Both if draft and published version are equal. `published` on types without drafts. */
  readonly statuses: readonly Status[]
  /** Ids and timestamps of the source; null: it has none. */
  readonly row: DesiredRow | null
}

/** All values of parts, with their defaults. Later parts and values take precedence. */
export function mergedValues(parts: readonly ImportedPart[], defaults = true): Values {
  const [only, ...others] = parts
  if (only && others.length === 0 && (!defaults || only.defaults.size === 0)) return only.values
  const merged = new Map<string, DesiredValue>()
  if (defaults) for (const part of parts) for (const [name, value] of part.defaults) merged.set(name, value)
  for (const { values } of parts) for (const [name, value] of values) merged.set(name, value)
  return merged
}
