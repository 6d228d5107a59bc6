import type { Attribute, ContentType } from '../model/model.ts'
import { removeVersions } from './rows/remove-versions.ts'
import { componentsOf, loadDocument } from './rows/write-load.ts'
import type { WriteTerms } from './rows/write-terms.ts'
import { rowOf, type VersionChange, type VersionName, type Versions } from './version-change.ts'

/** Attributes whose rows are removed with a version. */
export const attributesWithParts = ({ attributes }: ContentType): readonly Attribute[] =>
  [...attributes.values()].filter(each => componentsOf(each).length > 0)

/** Removes published versions with their own links; links to them stay (reference/documents.md#15-unpublishing-and-discarding). */
export const unpublish: VersionChange = {
  attributes: attributesWithParts,
  async change({ type, documentId, locales, current }: Versions, _, terms) {
    const found = locales.flatMap(locale => {
      const row = rowOf({ type, documentId, locale }, 'published', current)
      return row ? [{ locale, row }] : []
    })
    const gone = found.map(({ row }) => row)
    if (gone.length > 0) await removeVersions({ type, documentId, gone, current }, terms)
    return found.map(({ locale }) => locale)
  },
}

/** The published version as it is by now, where there is one. */
export async function removePublished(version: VersionName, terms: WriteTerms): Promise<void> {
  const { type, documentId } = version
  const current = await loadDocument(version, { attributes: attributesWithParts(type) }, terms)
  const row = rowOf(version, 'published', current)
  if (row) await removeVersions({ type, documentId, gone: [row], current }, terms)
}
