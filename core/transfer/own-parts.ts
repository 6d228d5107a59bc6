import { componentsBelow } from '../documents/find-taken-parts.ts'
import { groupBy } from '../documents/group.ts'
import { loadDocuments } from '../documents/write-load.ts'
import { numberIn } from '../documents/write-rows.ts'
import type { WriteTerms } from '../documents/write-terms.ts'
import type { Component } from '../model/model.ts'
import type { PlacedDocument } from './place-batch.ts'

/** The components that documents have which are there already. */
export async function findOwnParts(
  placed: readonly PlacedDocument[],
  terms: WriteTerms,
): Promise<(component: Component) => readonly number[]> {
  const ids = new Map<Component, Set<number>>()
  const there = placed.flatMap(({ there, first }) => (there ? [first] : []))
  for (const [type, documents] of groupBy(there, each => each.type)) {
    const documentIds = documents.map(({ documentId }) => documentId)
    const current = await loadDocuments(type, documentIds, terms)
    for (const row of documentIds.flatMap(documentId => current.rows(type, documentId))) {
      const status = row.get('status') === 'draft' ? 'draft' : 'published'
      const locale = row.get('locale')
      const place = {
        root: type,
        status,
        locale: typeof locale === 'string' ? locale : null,
        current,
        terms,
      } as const
      for (const { component, row: part } of componentsBelow(type, row, type.attributes.keys(), place)) {
        const own = ids.get(component) ?? new Set<number>()
        ids.set(component, own.add(numberIn(part, 'id')))
      }
    }
  }
  return component => [...(ids.get(component) ?? [])]
}
