import type { Attribute, Component, ContentType } from '../../model/model.ts'
import { isRecord } from '../../query/parse-place.ts'

/** A relation or media attribute that a body sets. */
export interface GivenLink {
  readonly kind: 'relation' | 'media'
  readonly name: string
  /** The dotted way to it, itself included, without places in lists. */
  readonly path: string
  readonly target: ContentType
}

/** The links that a value given to an attribute sets, in components too. */
export function linksIn(attribute: Attribute, value: unknown, path = attribute.name): readonly GivenLink[] {
  switch (attribute.kind) {
    case 'relation':
    case 'media':
      return [{ kind: attribute.kind, name: attribute.name, path, target: attribute.target }]
    case 'component':
      return itemsOf(value).flatMap(item => linksInComponent(attribute.component, item, path))
    case 'zone':
      return itemsOf(value).flatMap(item => {
        const component = attribute.components.find(({ uid }) => uid === item.__component)
        return component ? linksInComponent(component, item, path) : []
      })
    default:
      return []
  }
}

type Given = Readonly<Record<string, unknown>>

const itemsOf = (value: unknown): readonly Given[] =>
  (Array.isArray(value) ? value : [value]).filter(isRecord)

const linksInComponent = (component: Component, item: Given, path: string): readonly GivenLink[] =>
  Object.entries(item).flatMap(([name, value]) => {
    const attribute = component.attributes.get(name)
    return attribute ? linksIn(attribute, value, `${path}.${name}`) : []
  })
