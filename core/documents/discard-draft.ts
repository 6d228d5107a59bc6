import { quoteIdentifier as name } from '../sql/identifier.ts'
import { isInverse, readInverseList } from './inverse-list.ts'
import { rowOf, type VersionChange, type VersionName } from './version-change.ts'
import { valuesOf } from './version-values.ts'
import { writeDocuments } from './write-documents.ts'
import { loadDocument } from './write-load.ts'
import { type CurrentRow, numberIn } from './write-rows.ts'
import type { WriteTerms } from './write-terms.ts'
import type { Values, WrittenValue } from './written.ts'

/** Makes the draft the published version's equal (documents.md 15), stamps included. */
export const discardDraft: VersionChange = async (version, _, terms) => {
  const { type, documentId, locale } = version
  const current = await loadDocument(version, { attributes: [...type.attributes.values()] }, terms)
  const row = rowOf(version, 'published', current)
  if (!row) return false
  const place = { root: type, status: 'published', locale, current, terms } as const
  const values: Values = new Map([
    ...valuesOf(type, row, type.attributes.values(), place),
    ...(await inverseLists(version, row, terms)),
  ])
  const versions = [{ locale, statuses: ['draft'], values }] as const
  await writeDocuments([{ type, documentId, versions }], terms, current)
  await copyStamps(version, terms)
  return true
}

async function inverseLists(
  { type, locale }: VersionName,
  row: CurrentRow,
  terms: WriteTerms,
): Promise<readonly [string, WrittenValue][]> {
  const key = numberIn(row, terms.storage.table(type).key)
  const lists: [string, WrittenValue][] = []
  for (const attribute of [...type.attributes.values()].filter(isInverse)) {
    const targets = await readInverseList(attribute, { type, key, locale, status: 'published' }, terms)
    lists.push([attribute.name, { kind: 'links', targets }])
  }
  return lists
}

/** A draft that differs in nothing is not modified (contract/rest.md 10, `publicationFilter`). */
async function copyStamps(
  { type, documentId, locale }: VersionName,
  { storage, transaction }: WriteTerms,
): Promise<void> {
  const table = storage.table(type)
  const own = locale === null || table.locale === null ? 'true' : `d.${name(table.locale)} = $2`
  const same = table.locale === null ? '' : ` AND p.${name(table.locale)} = d.${name(table.locale)}`
  const shared = type.localized ? ', shared_updated_at = p.shared_updated_at' : ''
  const updated = `updated_at = CASE WHEN ${own} THEN p.updated_at ELSE d.updated_at END${shared}`
  await transaction.run({
    name: `stamp drafts of ${type.key}`,
    text: `UPDATE ${name(table.name)} d SET ${updated} FROM ${name(table.name)} p WHERE d.status = 'draft' AND p.status = 'published' AND p.${name(table.key)} = d.${name(table.key)}${same} AND d.${name(table.documentId)} = $1`,
    values: [documentId, ...(locale === null ? [] : [locale])],
  })
}
