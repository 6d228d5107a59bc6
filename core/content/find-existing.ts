import type { WrittenDocument, WrittenVersion } from '../documents/desired-state.ts'
import { groupBy } from '../documents/rows/group.ts'
import type { WriteTerms } from '../documents/rows/write-terms.ts'
import type { ContentType } from '../model/model.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'

/** Which documents are in the database, and in which versions. */
export interface Existing {
  has(type: ContentType, documentId: string): boolean
  /** All rows of the version are there. */
  hasVersion(
    type: ContentType,
    documentId: string,
    version: Pick<WrittenVersion, 'locale' | 'statuses'>,
  ): boolean
}

/** One statement a type. */
export async function findExisting(
  documents: readonly WrittenDocument[],
  { transaction, storage }: WriteTerms,
): Promise<Existing> {
  const found = new Map<string, Set<string>>()
  for (const [type, group] of groupBy(documents, each => each.type)) {
    const table = storage.table(type)
    const { rows } = await transaction.run({
      name: `find ${type.pluralApiId} of content/`,
      text: `SELECT ${name(table.documentId)}, ${table.locale === null ? 'NULL' : name(table.locale)}, ${table.status === null ? `'published'` : name(table.status)} FROM ${name(table.name)} WHERE ${name(table.documentId)} = ANY ($1::text[])`,
      values: [group.map(({ documentId }) => documentId)],
    })
    for (const [id, locale, status] of rows) {
      const key = keyOf(type, String(id))
      found.set(key, (found.get(key) ?? new Set<string>()).add(versionOf(locale, status)))
    }
  }
  return {
    has: (type, documentId) => found.has(keyOf(type, documentId)),
    hasVersion: (type, documentId, { locale, statuses }) =>
      statuses.every(status => found.get(keyOf(type, documentId))?.has(versionOf(locale, status)) === true),
  }
}

const keyOf = (type: ContentType, documentId: string): string => JSON.stringify([type.uid, documentId])

const versionOf = (locale: unknown, status: unknown): string => JSON.stringify([locale, status])
