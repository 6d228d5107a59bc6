import type { WrittenDocument, WrittenVersion } from '../documents/desired-state.ts'
import type { News } from '../documents/outbox.ts'
import type { Existing } from './find-existing.ts'

/** What the writing of a document did to each of its versions, as requests that did the same would tell it. */
export const newsOf = (
  { type, documentId, versions }: WrittenDocument,
  existing: Existing,
): readonly News[] =>
  versions.map(version => ({
    type,
    documentId,
    changes: actionsOf(version, {
      isThere: existing.hasVersion(type, documentId, version),
      hasDrafts: type.draftAndPublish,
    }).map(action => ({ locale: version.locale, action })),
    origin: { by: null, attributes: [...version.values.keys()] },
  }))

interface Before {
  readonly isThere: boolean
  readonly hasDrafts: boolean
}

function actionsOf({ statuses }: WrittenVersion, { isThere, hasDrafts }: Before) {
  const written = isThere ? 'update' : 'create'
  return hasDrafts && statuses.includes('published') ? ([written, 'publish'] as const) : ([written] as const)
}
