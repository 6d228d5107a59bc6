import { createHash } from 'node:crypto'
import { memoize } from '../../core/base/memo.ts'
import { isShared } from '../../core/documents/rows/planning.ts'
import {
  type Attribute,
  type Component,
  type ContentType,
  componentsOf,
  type Holder,
  type Model,
} from '../../core/model/model.ts'
import type { Project } from '../../core/project/project.ts'
import { type DescribedAttributes, type DescribedType, FORMAT, type Header } from './stream.ts'

export interface Describing {
  readonly project: Project
  readonly model: Model
  readonly types: readonly ContentType[]
  readonly passwords: boolean
}

/** The header of a stream of these types. */
export function describe({ project, model, types, passwords }: Describing): Header {
  const described = {
    types: Object.fromEntries(types.map(type => [type.uid, describeType(type)])),
    components: Object.fromEntries(
      componentsIn(types, model).map(component => [component.uid, describeAttributes(component)]),
    ),
  }
  const fingerprint = createHash('sha256').update(JSON.stringify(described)).digest('hex')
  const locales = model.locales.map(({ code }) => code)
  return {
    plinth: 'documents',
    format: FORMAT,
    project: project.settings.name,
    fingerprint,
    passwords,
    locales,
    ...described,
  }
}

export const describeType = (type: ContentType): DescribedType => ({
  draftAndPublish: type.draftAndPublish,
  localized: type.localized,
  attributes: describeAttributes(type),
})

export const describeAttributes = (holder: Holder): DescribedAttributes =>
  Object.fromEntries(streamedAttributes(holder).map(each => [each.name, describeAttribute(each)]))

/** The attributes in a document's line: all declared ones that this side stores. */
export const streamedAttributes = memoize((holder: Holder): readonly Attribute[] =>
  [...holder.attributes.values()].filter(attribute => !attribute.system && isStored(attribute)),
)

/** The attributes of a type that each locale has of its own, and those that all locales share. */
export const streamedParts = memoize(
  (type: ContentType): { readonly own: readonly Attribute[]; readonly shared: readonly Attribute[] } => ({
    own: streamedAttributes(type).filter(attribute => !isShared(type, attribute)),
    shared: streamedAttributes(type).filter(attribute => isShared(type, attribute)),
  }),
)

const isStored = (attribute: Attribute): boolean =>
  attribute.kind === 'relation' ? attribute.side === 'owner' : attribute.kind !== 'localizations'

function describeAttribute(attribute: Attribute): string {
  switch (attribute.kind) {
    case 'scalar':
      return attribute.type
    case 'component':
      return `component ${attribute.component.uid}${listOf(attribute.repeatable)}`
    case 'zone':
      return `zone ${attribute.components.map(({ uid }) => uid).join(', ')}`
    case 'morph':
      return 'related documents'
    case 'media':
      return `media${listOf(attribute.many)}`
    default:
      return `relation ${attribute.target.uid}${listOf(attribute.many)}`
  }
}

const listOf = (many: boolean): string => (many ? '[]' : '')

/** In the model's order, including nested components. */
function componentsIn(types: readonly ContentType[], model: Model): readonly Component[] {
  const found = new Set<Component>()
  const visit = (holder: Holder): void => {
    for (const attribute of holder.attributes.values()) {
      for (const component of componentsOf(attribute)) {
        if (found.has(component)) continue
        found.add(component)
        visit(component)
      }
    }
  }
  for (const type of types) visit(type)
  return [...model.components.values()].filter(component => found.has(component))
}
