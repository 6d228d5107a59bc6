import type { LinkTarget, Values, WrittenValue } from '../../../core/documents/desired-state.ts'
import type { ContentType, Holder, MediaAttribute, RelationAttribute } from '../../../core/model/model.ts'
import type { ParsedDocument } from './parsed-document.ts'

/** What documents go by in a stream, by type. */
export type LinkNames = Map<ContentType, Set<string>>

/** The documents themselves, and all that they link to. */
export function namesIn(documents: readonly ParsedDocument[]): LinkNames {
  const names: LinkNames = new Map()
  const add = (type: ContentType, called: string) => {
    const set = names.get(type) ?? new Set<string>()
    names.set(type, set.add(called))
  }
  for (const document of documents) {
    add(document.type, document.documentId)
    for (const values of partsOf(document))
      for (const { attribute, target } of linksIn(document.type, values))
        add(attribute.target, target.documentId)
  }
  return names
}

export const partsOf = ({ versions, shared }: ParsedDocument): readonly Values[] => [
  ...versions.map(({ values }) => values),
  ...[...shared.values()].map(({ values }) => values),
]

export interface FoundLink {
  readonly attribute: RelationAttribute | MediaAttribute
  readonly target: LinkTarget
}

export function* linksIn(holder: Holder, values: Values): Generator<FoundLink> {
  for (const [name, value] of values) {
    if (value.kind === 'components')
      for (const { component, values: inner } of value.items) yield* linksIn(component, inner)
    const attribute = holder.attributes.get(name)
    if (value.kind !== 'links' || (attribute?.kind !== 'relation' && attribute?.kind !== 'media')) continue
    for (const target of value.targets) yield { attribute, target }
  }
}

/** A link as it is to be written; undefined: not at all. */
export type Relink = (holder: Holder, found: FoundLink) => LinkTarget | undefined

/** The values with other links. */
export function relinked(holder: Holder, values: Values, relink: Relink): Values {
  return new Map([...values].map(([name, value]) => [name, relinkedValue(holder, name, value, relink)]))
}

function relinkedValue(holder: Holder, name: string, value: WrittenValue, relink: Relink): WrittenValue {
  if (value.kind === 'components')
    return {
      kind: 'components',
      items: value.items.map(item => ({ ...item, values: relinked(item.component, item.values, relink) })),
    }
  const attribute = holder.attributes.get(name)
  if (value.kind !== 'links' || (attribute?.kind !== 'relation' && attribute?.kind !== 'media')) return value
  return {
    kind: 'links',
    targets: value.targets.flatMap(target => relink(holder, { attribute, target }) ?? []),
  }
}
