import type { ContentType } from '../model/model.ts'
import type { Status } from '../query/query.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import { readInverseList } from './inverse-list.ts'
import { removeVersions } from './remove-versions.ts'
import { isInverse } from './save-version.ts'
import { valuesOf } from './version-values.ts'
import { writeDocuments } from './write-documents.ts'
import { type Current, componentsOf, loadDocument } from './write-load.ts'
import { type CurrentRow, numberIn } from './write-rows.ts'
import type { WriteTerms } from './write-terms.ts'
import type { Values, WrittenValue } from './written.ts'

/** A version of a type with drafts, whatever its status. */
export interface VersionName {
  readonly type: ContentType
  readonly documentId: string
  /** null exactly on types without locales. */
  readonly locale: string | null
}

/** Removes the published version with its own links; links to it stay (documents.md 15). Tells whether there was one. */
export async function unpublish(version: VersionName, terms: WriteTerms): Promise<boolean> {
  const { type, documentId } = version
  const attributes = [...type.attributes.values()].filter(each => componentsOf(each).length > 0)
  const current = await loadDocument(version, () => attributes, terms)
  const row = rowOf(version, 'published', current)
  if (row) await removeVersions({ type, documentId, gone: [row], current }, terms)
  return row !== undefined
}

/** Makes the draft equal the published version (documents.md 15), stamps included. Tells whether there was one. */
export async function discardDraft(version: VersionName, terms: WriteTerms): Promise<boolean> {
  const { type, documentId, locale } = version
  const current = await loadDocument(version, () => [...type.attributes.values()], terms)
  const row = rowOf(version, 'published', current)
  if (!row) return false
  const values: Values = new Map([
    ...valuesOf(type, row, type.attributes.values(), {
      root: type,
      status: 'published',
      locale,
      current,
      terms,
    }),
    ...(await inverseLists(version, row, terms)),
  ])
  await writeDocuments(
    [{ type, documentId, versions: [{ locale, statuses: ['draft'], values }] }],
    terms,
    current,
  )
  await copyStamps(version, terms)
  return true
}

const rowOf = (
  { type, documentId, locale }: VersionName,
  status: Status,
  current: Current,
): CurrentRow | undefined =>
  current
    .rows(type, documentId)
    .find(row => row.get('status') === status && (!type.localized || row.get('locale') === locale))

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
  { type, documentId }: VersionName,
  { storage, transaction }: WriteTerms,
): Promise<void> {
  const table = storage.table(type)
  const stamps = ['updated_at', ...(type.localized ? ['shared_updated_at'] : [])]
  const locale = table.locale === null ? '' : ` AND p.${name(table.locale)} = d.${name(table.locale)}`
  await transaction.run({
    name: `stamp drafts of ${type.key}`,
    text: `UPDATE ${name(table.name)} d SET ${stamps.map(stamp => `${stamp} = p.${stamp}`).join(', ')} FROM ${name(table.name)} p WHERE d.status = 'draft' AND p.status = 'published' AND p.${name(table.key)} = d.${name(table.key)}${locale} AND d.${name(table.documentId)} = $1`,
    values: [documentId],
  })
}
