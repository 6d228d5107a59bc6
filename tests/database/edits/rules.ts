import type { Chance } from './random.ts'
import { newRelation, type RandomRelation, sidesOf } from './random-relations.ts'

/**
 * A project whose rules are edited at random: required, unique, limits, enumeration values, defaults, locales, drafts, relations,
 * components and zones. What keeps its `id` is the same thing, whatever its name.
 */
export interface Ruled {
  readonly types: readonly RuledType[]
  readonly parts: readonly RuledPart[]
  readonly relations: readonly RandomRelation[]
}

export interface RuledType {
  readonly id: string
  readonly key: string
  readonly renamedFrom?: string
  readonly indexed: boolean
  readonly drafts: boolean
  readonly localized: boolean
  readonly attributes: readonly RuledAttribute[]
  readonly holding: Holding
}

/** Which components the attribute `held` holds. */
export type Holding = 'none' | 'single' | 'list' | 'zone'

export interface RuledPart {
  readonly id: string
  readonly key: string
  readonly renamedFrom?: string
  /** True if it holds a list of the first component. */
  readonly nested: boolean
  readonly attributes: readonly RuledAttribute[]
}

export interface RuledAttribute {
  readonly id: string
  readonly name: string
  readonly renamedFrom?: string
  readonly type: 'string' | 'text' | 'integer' | 'decimal' | 'boolean' | 'enumeration' | 'date'
  readonly required: boolean
  readonly unique: boolean
  /** Of a limit of length or size, by its step. */
  readonly limit: number | null
  readonly values: readonly EnumValue[]
  readonly default?: unknown
  readonly backfill?: unknown
  readonly shared: boolean
}

export interface EnumValue {
  readonly id: string
  readonly value: string
  readonly renamedFrom?: string
}

export const RULED_TYPES = ['string', 'text', 'integer', 'decimal', 'boolean', 'enumeration', 'date'] as const

let made = 0
/** A name that was not used before. */
export const freshName = (kind: string): string => `${kind}${++made}`

export const newEnumValue = (): EnumValue => {
  const value = freshName('e')
  return { id: value, value }
}

const WORDS = ['a', "it's", 'München', '007', 'x'.repeat(40)]

/** A value that the attribute takes; of few, so that values repeat, except where they must not. */
export function ruledValue({ type, unique, values, limit }: RuledAttribute, random: Chance): unknown {
  const number = unique ? ++made : random.below(4)
  switch (type) {
    case 'integer':
      return limit === null ? number : Math.min(number, limit)
    case 'decimal':
      return limit === null ? number + 0.5 : Math.min(number + 0.5, limit)
    case 'boolean':
      return random.onceIn(2)
    case 'date':
      return `20${10 + (number % 80)}-0${1 + random.below(9)}-01`
    case 'enumeration':
      return random.one(values).value
    default:
      return (unique ? `u${number}` : random.one(WORDS)).slice(0, limit ?? 100)
  }
}

/** Of any type; some of those that are required fill the rows that are there. */
export function newRuledAttribute(random: Chance): RuledAttribute {
  const name = freshName('v')
  const type = random.one(RULED_TYPES)
  const values = type === 'enumeration' ? [newEnumValue(), newEnumValue(), newEnumValue()] : []
  const base = { id: name, name, type, unique: false, limit: null, values, shared: random.onceIn(3) }
  const required = random.onceIn(3)
  const filled = { ...base, required }
  return required && !random.onceIn(3) ? { ...filled, backfill: ruledValue(filled, random) } : filled
}

const newPart = (random: Chance, nested: boolean): RuledPart => {
  const key = freshName('parts.p')
  return { id: key, key, nested, attributes: [newRuledAttribute(random), newRuledAttribute(random)] }
}

const newType = (random: Chance, holding: Holding, key = freshName('type')): RuledType => ({
  id: key,
  key,
  indexed: random.onceIn(2),
  drafts: random.onceIn(2),
  localized: random.onceIn(2),
  attributes: [newRuledAttribute(random), newRuledAttribute(random), newRuledAttribute(random)],
  holding,
})

export function newRuled(random: Chance): Ruled {
  const types = [newType(random, 'list'), newType(random, random.one(['none', 'single', 'zone']))]
  const [one, other] = types.map(({ key }) => key)
  if (one === undefined || other === undefined) throw new TypeError('two types')
  return {
    types,
    parts: [newPart(random, false), newPart(random, random.onceIn(2))],
    relations: [newRelation(random, 'link', one, other), newRelation(random, 'next', one, one)],
  }
}

/** The project in YAML. */
export function printRuled({ types, parts, relations }: Ruled): string {
  const components = Object.fromEntries(
    parts.map(({ key, renamedFrom, nested, attributes }) => [
      key,
      {
        ...(renamedFrom !== undefined && { renamedFrom }),
        attributes: {
          ...declared(attributes, false),
          ...(nested && { inner: { type: 'component', component: parts[0]?.key, repeatable: true } }),
        },
      },
    ]),
  )
  const contentTypes = Object.fromEntries(
    types.map(({ key, renamedFrom, indexed, drafts, localized, attributes, holding }) => [
      key,
      {
        ...(renamedFrom !== undefined && { renamedFrom }),
        ...(indexed && { indexes: indexOf(attributes) }),
        draftAndPublish: drafts,
        localized,
        attributes: {
          ...declared(attributes, localized),
          ...held(holding, parts),
          ...Object.fromEntries(relations.flatMap(each => sidesOf(each, key))),
        },
      },
    ]),
  )
  return `i18n: { defaultLocale: en, locales: [en, fr] }
components: ${JSON.stringify(components)}
contentTypes: ${JSON.stringify(contentTypes)}`
}

/** One index of two attributes. */
function indexOf(attributes: readonly RuledAttribute[]): readonly (readonly string[])[] {
  const names = attributes.filter(({ type }) => type !== 'text').map(({ name }) => name)
  return names.length === 0 ? [] : [names.slice(0, 2)]
}

function held(holding: Holding, parts: readonly RuledPart[]): object {
  const [first, ...others] = parts.map(({ key }) => key)
  if (holding === 'none') return {}
  if (holding === 'zone') return { held: { type: 'dynamiczone', components: [first, ...others] } }
  return { held: { type: 'component', component: first, repeatable: holding === 'list' } }
}

const declared = (attributes: readonly RuledAttribute[], localized: boolean): object =>
  Object.fromEntries(attributes.map(each => [each.name, declareRuled(each, localized)]))

/** Its declaration in a type, which may have locales. */
export function declareRuled(attribute: RuledAttribute, localized: boolean): object {
  const { type, required, unique, limit, values, shared, renamedFrom } = attribute
  const limitName = type === 'integer' || type === 'decimal' ? 'max' : 'maxLength'
  return {
    type,
    ...(type === 'enumeration' && {
      enum: values.map(each =>
        each.renamedFrom === undefined ? each.value : { value: each.value, renamedFrom: each.renamedFrom },
      ),
    }),
    ...(required && { required }),
    ...(unique && { unique }),
    ...(limit !== null && { [limitName]: limit }),
    ...(attribute.default !== undefined && { default: attribute.default }),
    ...(attribute.backfill !== undefined && { backfill: attribute.backfill }),
    ...(localized && shared && { localized: false }),
    ...(renamedFrom !== undefined && { renamedFrom }),
  }
}
