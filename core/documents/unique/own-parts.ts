import type { Component } from '../../model/model.ts'
import type { DesiredDocument } from '../desired-state.ts'
import type { Current } from '../rows/write-load.ts'
import type { WriteTerms } from '../rows/write-terms.ts'
import { numberIn } from '../sql/write-rows.ts'
import { componentsBelow } from './unique-conflicts-in-components.ts'

type OwnDocument = Pick<DesiredDocument, 'type' | 'documentId'>

/** The ids of the components that documents have already, in all that is loaded of them; by their kind. */
export function ownParts(
  documents: readonly OwnDocument[],
  current: Current,
  terms: WriteTerms,
): (component: Component) => readonly number[] {
  const ids = new Map<Component, Set<number>>()
  for (const [component, id] of documents.flatMap(each => [...partsOf(each, current, terms)]))
    ids.set(component, (ids.get(component) ?? new Set<number>()).add(id))
  return component => [...(ids.get(component) ?? [])]
}

function* partsOf(
  { type, documentId }: OwnDocument,
  current: Current,
  terms: WriteTerms,
): Generator<readonly [Component, number]> {
  for (const row of current.rows(type, documentId)) {
    const locale = row.get('locale')
    const place = {
      root: type,
      status: row.get('status') === 'draft' ? 'draft' : 'published',
      locale: typeof locale === 'string' ? locale : null,
      current,
      terms,
    } as const
    for (const each of componentsBelow(type, row, type.attributes.keys(), place))
      yield [each.component, numberIn(each.row, 'id')]
  }
}
