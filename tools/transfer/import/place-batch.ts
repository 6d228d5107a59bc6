import type { LinkTarget, Values } from '../../../core/documents/desired-state.ts'
import { GAP } from '../../../core/documents/sql/write-rows.ts'
import type { ContentType, Holder } from '../../../core/model/model.ts'
import type { Storage } from '../../../core/model/storage.ts'
import type { StreamIndex } from '../index-stream.ts'
import type { Decided } from './checkpoint.ts'
import type { Existing, FindExisting } from './find-existing.ts'
import { overStorage } from './import-files.ts'
import type { ImportTerms } from './import-terms.ts'
import { type FoundLink, relinked } from './link-names.ts'
import type { ParsedDocument } from './parsed-document.ts'
import { type Steps, toWritten } from './to-written.ts'

export interface Placing extends Pick<ImportTerms, 'model' | 'storage' | 'files'> {
  readonly index: StreamIndex
  readonly decided: Decided
  readonly existing: FindExisting
}

/** A document of a batch that is to be written. */
export interface PlacedDocument extends Steps {
  readonly document: ParsedDocument
  /** undefined: it is new. */
  readonly there: Existing | undefined
}

/** A document with the key that it has or is to have, its links by those of their targets. */
export function place(document: ParsedDocument, placing: Placing): PlacedDocument {
  const { type, documentId, defaults } = document
  const there = placing.existing(type, documentId)
  const isKept = placing.decided.keys[type.uid] === 'kept'
  const steps = toWritten(document, {
    documentId: there?.documentId ?? documentId,
    key: there ? undefined : keyOf(type, documentId, placing),
    isThere: there !== undefined,
    keepsRows: there === undefined && isKept,
    finish: values => finish(type, values, there, placing),
    defaults: there ? new Map() : defaults,
  })
  return { ...steps, document, there }
}

export function keyOf(
  type: ContentType,
  called: string,
  { index, decided, existing }: Pick<Placing, 'index' | 'decided' | 'existing'>,
): number | undefined {
  const there = existing(type, called)
  if (there) return there.key
  const found = index.find(type, called)
  const base = decided.keys[type.uid]
  if (!found || base === undefined) return undefined
  return base === 'kept' ? found.key : base + found.ordinal
}

function finish(type: ContentType, values: Values, there: Existing | undefined, placing: Placing): Values {
  const { model, files } = placing
  const linked = relinked(type, values, (holder, found) => relink(holder, found, placing))
  if (type === model.builtIn.file) return overStorage(linked, files)
  // What a user who is there has ended stays ended: see ImportTerms.beforeUsers.
  if (type !== model.builtIn.user || !there) return linked
  return new Map([...linked].filter(([name]) => name !== 'sessionVersion'))
}

function relink(holder: Holder, { attribute, target }: FoundLink, placing: Placing): LinkTarget | undefined {
  const key = keyOf(attribute.target, target.documentId, placing)
  if (key === undefined) return undefined
  const { inversePlace, ...rest } = target
  if (inversePlace === undefined) return { ...rest, key }
  const after = placing.decided.places[placesTable(holder, attribute.name, placing.storage) ?? ''] ?? 0
  return { ...rest, key, inversePlace: inversePlace + after * GAP }
}

/** The table whose numbers are places in the lists of the other side; undefined: there is no such list. */
export function placesTable(holder: Holder, attribute: string, storage: Storage): string | undefined {
  const link = storage.link(holder, attribute)
  if (link.inversePosition === null || holder.holder === 'component') return undefined
  return link.kind === 'table' ? link.table : storage.table(holder).name
}
