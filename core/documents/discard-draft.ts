import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { Alignment, DesiredValue } from './desired-state.ts'
import { inverseRelation } from './links/inverse-sql.ts'
import { isInverse } from './links/write-inverse.ts'
import type { Current } from './rows/write-load.ts'
import type { WriteTerms } from './rows/write-terms.ts'
import { type CurrentRow, numberIn } from './sql/write-rows.ts'
import { alignmentOf } from './state/inverse-edits.ts'
import { valuesOf } from './state/version-values.ts'
import { rowOf, type VersionChange, type VersionName, type Versions } from './version-change.ts'
import { writeDocuments } from './write-documents.ts'

/** Makes drafts their published versions' equals (reference/documents.md#15-unpublishing-and-discarding), stamps included. */
export const discardDraft: VersionChange = {
  attributes: ({ attributes }) => [...attributes.values()],
  async change({ type, documentId, locales, current }, _, terms) {
    const found = await Promise.all(
      locales.map(locale => publishedValues({ type, documentId, locale }, current, terms)),
    )
    const versions = found.flatMap(each => (each ? [{ ...each, statuses: ['draft'] as const }] : []))
    if (versions.length === 0) return []
    await writeDocuments([{ type, documentId, versions }], terms, current)
    const changed = versions.map(({ locale }) => locale)
    copyStamps({ type, documentId, locales: changed }, terms)
    return changed
  },
}

/** New values of the draft; undefined: there is no published version. */
async function publishedValues(version: VersionName, current: Current, terms: WriteTerms) {
  const { type, locale } = version
  const row = rowOf(version, 'published', current)
  if (!row) return undefined
  const place = { root: type, status: 'published', locale, current, terms } as const
  const inverse = await inverseLists(version, row, terms)
  return { locale, values: new Map([...valuesOf(type, row, type.attributes.values(), place), ...inverse]) }
}

const DISCARDING: Alignment = { from: 'published', to: 'draft' }

async function inverseLists(
  { type, locale }: VersionName,
  row: CurrentRow,
  terms: WriteTerms,
): Promise<readonly (readonly [string, DesiredValue])[]> {
  const end = { key: numberIn(row, terms.storage.table(type).key), locale }
  return Promise.all(
    [...type.attributes.values()].filter(isInverse).map(async attribute => {
      const relation = inverseRelation(type, attribute, terms.storage)
      const align = await alignmentOf(relation, end, DISCARDING, terms)
      return [
        attribute.name,
        { kind: 'links', targets: [], edit: { disconnect: [], connect: [], align } },
      ] as const
    }),
  )
}

/** A draft that differs in nothing is not modified (reference/rest.md#10-drafts, `publicationFilter`). */
function copyStamps(
  { type, documentId, locales }: Omit<Versions, 'current'>,
  { storage, transaction }: WriteTerms,
): void {
  const table = storage.table(type)
  const own = table.locale === null ? 'true' : `d.${name(table.locale)} = ANY ($2::text[])`
  const same = table.locale === null ? '' : ` AND p.${name(table.locale)} = d.${name(table.locale)}`
  const shared = type.localized ? ', shared_updated_at = p.shared_updated_at' : ''
  const updated = `updated_at = CASE WHEN ${own} THEN p.updated_at ELSE d.updated_at END${shared}`
  transaction.send({
    name: `stamp drafts of ${type.key}`,
    text: `UPDATE ${name(table.name)} d SET ${updated} FROM ${name(table.name)} p WHERE d.status = 'draft' AND p.status = 'published' AND p.${name(table.key)} = d.${name(table.key)}${same} AND d.${name(table.documentId)} = $1`,
    values: [documentId, ...(table.locale === null ? [] : [locales])],
  })
}
