import { removeVersions } from './remove-versions.ts'
import { rowOf, type VersionChange } from './version-change.ts'
import { componentsOf, loadDocument } from './write-load.ts'

/** Removes the published version with its own links; links to it stay (documents.md 15). */
export const unpublish: VersionChange = async (version, _, terms) => {
  const { type, documentId } = version
  const attributes = [...type.attributes.values()].filter(each => componentsOf(each).length > 0)
  const current = await loadDocument(version, { attributes }, terms)
  const row = rowOf(version, 'published', current)
  if (row) await removeVersions({ type, documentId, gone: [row], current }, terms)
  return row !== undefined
}
