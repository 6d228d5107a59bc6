import { groupBy } from '../documents/group.ts'
import { ownParts } from '../documents/own-parts.ts'
import { loadDocuments } from '../documents/write-load.ts'
import type { WriteTerms } from '../documents/write-terms.ts'
import type { Component } from '../model/model.ts'
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
