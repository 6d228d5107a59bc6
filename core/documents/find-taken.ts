import type { ContentType, ScalarAttribute } from '../model/model.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import { groupBy } from './group.ts'
import type { WriteTerms } from './write-terms.ts'
import type { WrittenDocument } from './written.ts'

/** A value that another document has already, of an attribute that must be unique. */
export interface Taken {
  readonly document: WrittenDocument
  readonly locale: string | null
  readonly attribute: ScalarAttribute
  readonly value: string
}

/**
 * documents.md 5: unique among the published versions of a locale, or among all rows of a type without drafts. One
 * statement for each unique attribute that is written; the indexes only catch who writes at the same moment.
 */
export async function findTaken(
  documents: readonly WrittenDocument[],
  terms: WriteTerms,
): Promise<readonly Taken[]> {
  const taken: Taken[] = []
  for (const [type, group] of groupBy(documents, each => each.type)) {
    for (const attribute of type.attributes.values()) {
      if (attribute.kind !== 'scalar' || !attribute.unique) continue
      const wanted = group.flatMap(document => uniqueValues(document, attribute))
      if (wanted.length > 0) taken.push(...(await findOf(type, attribute, wanted, group, terms)))
    }
  }
  return taken
}

/** What a document claims for itself: in versions that are published, or of types without drafts. */
function uniqueValues(document: WrittenDocument, attribute: ScalarAttribute): readonly Taken[] {
  return document.versions.flatMap(({ statuses, locale, values }) => {
    const value = values.get(attribute.name)
    if (!statuses.includes('published') || value?.kind !== 'scalar' || value.value === null) return []
    return [{ document, locale, attribute, value: String(value.value) }]
  })
}

async function findOf(
  type: ContentType,
  attribute: ScalarAttribute,
  wanted: readonly Taken[],
  written: readonly WrittenDocument[],
  { transaction, storage }: WriteTerms,
): Promise<readonly Taken[]> {
  const table = storage.table(type)
  const column = `${name(storage.column(type, attribute.name))}::text`
  const locale = table.locale === null ? 'NULL' : name(table.locale)
  const published = table.status === null ? '' : ` AND ${name(table.status)} = 'published'`
  const { rows } = await transaction.run({
    name: `check that ${attribute.name} of ${type.key} is unique`,
    text: `SELECT ${column}, ${locale} FROM ${name(table.name)} WHERE ${column} = ANY ($1::text[])${published} AND NOT ${name(table.documentId)} = ANY ($2::text[])`,
    values: [wanted.map(({ value }) => value), written.map(({ documentId }) => documentId)],
  })
  const found = new Set(rows.map(([value, where]) => JSON.stringify([value, where])))
  return wanted.filter(({ value, locale: own }) => found.has(JSON.stringify([value, own])))
}
