import type { DesiredDocument, DesiredVersion } from '../documents/desired-state.ts'
import type { ChangeEvent } from '../documents/outbox.ts'
import { groupBy } from '../documents/rows/group.ts'
import type { WriteTerms } from '../documents/rows/write-terms.ts'
import type { ContentType } from '../model/model.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'

/** Documents and versions that exist in the database. */
export interface ExistingVersions {
  has(type: ContentType, documentId: string): boolean
  /** True if all rows of the version exist. */
  hasVersion(
    type: ContentType,
    documentId: string,
    version: Pick<DesiredVersion, 'locale' | 'statuses'>,
  ): boolean
}

/** Runs one statement per type. */
export async function findExistingVersions(
  documents: readonly DesiredDocument[],
  { transaction, storage }: WriteTerms,
): Promise<ExistingVersions> {
  const found = new Map<string, Set<string>>()
  for (const [type, group] of groupBy(documents, each => each.type)) {
    const table = storage.table(type)
    const { rows } = await transaction.run({
      name: `find ${type.pluralApiId} of content/`,
      text: `SELECT ${name(table.documentId)}, ${table.locale === null ? 'NULL' : name(table.locale)}, ${table.status === null ? `'published'` : name(table.status)} FROM ${name(table.name)} WHERE ${name(table.documentId)} = ANY ($1::text[])`,
      values: [group.map(({ documentId }) => documentId)],
    })
    for (const [id, locale, status] of rows) {
      const key = existingKey(type, String(id))
      found.set(key, (found.get(key) ?? new Set<string>()).add(versionKey(locale, status)))
    }
  }
  return {
    has: (type, documentId) => found.has(existingKey(type, documentId)),
    hasVersion: (type, documentId, { locale, statuses }) =>
      statuses.every(
        status => found.get(existingKey(type, documentId))?.has(versionKey(locale, status)) === true,
      ),
  }
}

const existingKey = (type: ContentType, documentId: string): string => JSON.stringify([type.uid, documentId])

const versionKey = (locale: unknown, status: unknown): string => JSON.stringify([locale, status])

/** Events for the written versions of a document, equal to those of requests with the same effect. */
export const contentChanges = (
  { type, documentId, versions }: DesiredDocument,
  existing: ExistingVersions,
): readonly ChangeEvent[] =>
  versions.map(version => ({
    type,
    documentId,
    changes: writeActions(version, {
      isThere: existing.hasVersion(type, documentId, version),
      hasDrafts: type.draftAndPublish,
    }).map(action => ({ locale: version.locale, action })),
    origin: { by: null, attributes: [...version.values.keys()] },
  }))

interface PriorState {
  readonly isThere: boolean
  readonly hasDrafts: boolean
}

function writeActions({ statuses }: DesiredVersion, { isThere, hasDrafts }: PriorState) {
  const written = isThere ? 'update' : 'create'
  return hasDrafts && statuses.includes('published') ? ([written, 'publish'] as const) : ([written] as const)
}
