import { groupBy } from '../../../core/documents/rows/group.ts'
import { loadDocuments } from '../../../core/documents/rows/write-load.ts'
import type { WriteTerms } from '../../../core/documents/rows/write-terms.ts'
import { ownParts } from '../../../core/documents/unique/own-parts.ts'
import type { Component } from '../../../core/model/model.ts'
import type { PlacedDocument } from './place-batch.ts'

/** The components that documents have which are there already. */
export async function findOwnParts(
  placed: readonly PlacedDocument[],
  terms: WriteTerms,
): Promise<(component: Component) => readonly number[]> {
  const there = placed.flatMap(({ there, first }) => (there ? [first] : []))
  const found: ReturnType<typeof ownParts>[] = []
  for (const [type, documents] of groupBy(there, each => each.type)) {
    const ids = documents.map(({ documentId }) => documentId)
    found.push(ownParts(documents, await loadDocuments(type, ids, terms), terms))
  }
  return component => found.flatMap(idsOf => idsOf(component))
}
