import {
  type Attribute,
  type Component,
  type ContentType,
  type Holder,
  isLink,
} from '../../core/model/model.ts'

/** The values hidden from a caller, listed by hand so that the permission code does not verify itself. */
export interface Policy {
  readonly name: string
  readonly token: string
  /** By key of content-type; components have no fields of their own to hide. */
  readonly hidden: Readonly<Record<string, readonly string[]>>
  /** Content-types in which the caller finds no documents. */
  readonly closed: readonly string[]
}

/** A step over a link or into a component; of dynamic zones into one of their components. */
export interface Step {
  readonly name: string
  readonly via: 'link' | 'media' | 'component' | 'zone'
  readonly end: Holder
}

/** A way from a content-type over at most three steps to an attribute that is hidden from a caller. */
export interface HiddenWay {
  readonly start: ContentType
  readonly steps: readonly Step[]
  readonly attribute: Attribute
}

export function* hiddenWays(start: ContentType, policy: Policy, hops: number): Generator<HiddenWay> {
  for (const steps of waysFrom(start, hops)) {
    const end = steps.at(-1)?.end ?? start
    for (const attribute of end.attributes.values())
      if (isHidden(end, attribute, policy)) yield { start, steps, attribute }
  }
}

/** Private, a password, outside the caller's fields, or a relation to a type that the caller may not find. */
export function isHidden(holder: Holder, attribute: Attribute, { hidden, closed }: Policy): boolean {
  if (attribute.private || (attribute.kind === 'scalar' && attribute.type === 'password')) return true
  if (hidden[holder.key]?.includes(attribute.name)) return true
  return isClosed(attribute, closed)
}

export const isClosed = (attribute: Attribute, closed: readonly string[]): boolean =>
  isLink(attribute) && attribute.kind !== 'media' && closed.includes(attribute.target.key)

function waysFrom(holder: Holder, hops: number): readonly (readonly Step[])[] {
  if (hops === 0) return [[]]
  return [...holder.attributes.values()]
    .flatMap(stepsOver)
    .flatMap(step => waysFrom(step.end, hops - 1).map(rest => [step, ...rest]))
}

function stepsOver(attribute: Attribute): readonly Step[] {
  const { name } = attribute
  switch (attribute.kind) {
    case 'scalar':
      return []
    case 'component':
      return [{ name, via: 'component', end: attribute.component }]
    case 'morph':
      return []
    case 'zone':
      return attribute.components.map((end: Component): Step => ({ name, via: 'zone', end }))
    default:
      return [{ name, via: attribute.kind === 'media' ? 'media' : 'link', end: attribute.target }]
  }
}
