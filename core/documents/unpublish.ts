import { removeVersions } from './remove-versions.ts'
import { rowOf, type VersionChange, type VersionName } from './version-change.ts'
import { componentsOf, loadDocument } from './write-load.ts'
import type { WriteTerms } from './write-terms.ts'

/** Removes the published version with its own links; links to it stay (documents.md 15). */
export const unpublish: VersionChange = (version, _, terms) => removePublished(version, terms)

/** Tells whether there was one. */
export async function removePublished(version: VersionName, terms: WriteTerms): Promise<boolean> {
  const { type, documentId } = version
  const attributes = [...type.attributes.values()].filter(each => componentsOf(each).length > 0)
  const current = await loadDocument(version, { attributes }, terms)
  const row = rowOf(version, 'published', current)
  if (row) await removeVersions({ type, documentId, gone: [row], current }, terms)
  return row !== undefined
}
