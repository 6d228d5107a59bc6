import type { Chance } from './random.ts'
import { KINDS, type RandomRelation } from './random-relations.ts'
import {
  declareRuled,
  freshName,
  newEnumValue,
  newRuledAttribute,
  RULED_TYPES,
  type Ruled,
  type RuledAttribute,
  type RuledType,
  ruledValue,
} from './rules.ts'

/** A renamed name is not new for the next edit, and what was filled stays. */
const settledAttribute = ({ renamedFrom: _, ...one }: RuledAttribute): RuledAttribute => ({
  ...one,
  values: one.values.map(({ renamedFrom: __, ...value }) => value),
})

const settled = (project: Ruled): Ruled => ({
  ...project,
  types: project.types.map(({ renamedFrom: _, ...type }) => ({
    ...type,
    attributes: type.attributes.map(settledAttribute),
  })),
  parts: project.parts.map(({ renamedFrom: _, ...part }) => ({
    ...part,
    attributes: part.attributes.map(settledAttribute),
  })),
})

/** One to three things changed; and in words what. */
export function editRules(project: Ruled, random: Chance): readonly [string, Ruled] {
  let draft = settled(project)
  const words: string[] = []
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    const [said, next] = random.onceIn(3) ? editShape(draft, random) : editAttributes(draft, random)
    words.push(said)
    draft = next
  }
  return [words.join('; '), draft]
}

function editAttributes(project: Ruled, random: Chance): readonly [string, Ruled] {
  if (random.onceIn(3)) {
    const part = random.one(project.parts)
    const [words, attributes] = editList(part.attributes, random)
    const parts = project.parts.map(each => (each === part ? { ...part, attributes } : each))
    return [`${part.key}: ${words}`, { ...project, parts }]
  }
  const type = random.one(project.types)
  const [words, attributes] = editList(type.attributes, random)
  return [
    `${type.key}: ${words}`,
    { ...project, types: project.types.map(each => (each === type ? { ...type, attributes } : each)) },
  ]
}

function editList(
  attributes: readonly RuledAttribute[],
  random: Chance,
): readonly [string, readonly RuledAttribute[]] {
  if (random.onceIn(6)) {
    const one = newRuledAttribute(random)
    return [`new ${one.name} ${JSON.stringify(declareRuled(one, true))}`, [...attributes, one]]
  }
  const attribute = random.one(attributes)
  if (attributes.length > 2 && random.onceIn(6))
    return [`no ${attribute.name}`, attributes.filter(each => each !== attribute)]
  const changed = editAttribute(attribute, random)
  const words = `${attribute.name} ${JSON.stringify(declareRuled(attribute, true))} becomes ${changed.name} ${JSON.stringify(declareRuled(changed, true))}`
  return [words, attributes.map(each => (each === attribute ? changed : each))]
}

const UNIQUE_TYPES: readonly string[] = ['string', 'text', 'integer', 'date']

function editAttribute(attribute: RuledAttribute, random: Chance): RuledAttribute {
  const { backfill: _, ...plain } = attribute
  const limited = ['string', 'text', 'integer', 'decimal'].includes(attribute.type)
  const edits: readonly (() => RuledAttribute)[] = [
    () => ({ ...attribute, name: freshName('v'), renamedFrom: attribute.renamedFrom ?? attribute.name }),
    () => ({ ...plain, required: !attribute.required }),
    () => {
      const required = { ...plain, required: true }
      return { ...required, backfill: ruledValue({ ...required, unique: false }, random) }
    },
    () => ({ ...plain, unique: !attribute.unique && UNIQUE_TYPES.includes(attribute.type) }),
    () => ({ ...plain, ...(limited && { limit: random.one([1, 2, 3, null]) }), ...withoutDefault }),
    () => ({ ...attribute, shared: !attribute.shared }),
    () => ({ ...plain, default: attribute.default === undefined ? ruledValue(plain, random) : undefined }),
    () => {
      const type = random.one(RULED_TYPES)
      const values = type === 'enumeration' ? [newEnumValue(), { id: 'a', value: 'a' }] : []
      return { ...plain, type, values, unique: false, required: false, limit: null, ...withoutDefault }
    },
    ...(attribute.type === 'enumeration' ? [1, 2, 3].map(() => () => editValues(plain, random)) : []),
  ]
  return random.one(edits)()
}

const withoutDefault = { default: undefined } as const

function editValues(attribute: RuledAttribute, random: Chance): RuledAttribute {
  const { values } = attribute
  const value = random.one(values)
  const others = values.filter(each => each !== value)
  const kept = { ...attribute, ...withoutDefault }
  const edits: readonly (() => RuledAttribute)[] = [
    () => ({ ...kept, values: [...values, newEnumValue()] }),
    () => ({ ...kept, values: others.length === 0 ? values : others }),
    () => {
      const renamed = { ...value, value: freshName('e'), renamedFrom: value.renamedFrom ?? value.value }
      return { ...kept, values: [renamed, ...others] }
    },
    // Two values exchange their names.
    () => {
      const [other] = others
      if (other === undefined || value.renamedFrom !== undefined || other.renamedFrom !== undefined)
        return kept
      return {
        ...kept,
        values: [
          { ...value, value: other.value, renamedFrom: value.value },
          { ...other, value: value.value, renamedFrom: other.value },
          ...others.slice(1),
        ],
      }
    },
  ]
  return random.one(edits)()
}

function editShape(project: Ruled, random: Chance): readonly [string, Ruled] {
  const type = random.one(project.types)
  const relation = random.one(project.relations)
  const withType = (one: RuledType): Ruled => ({
    ...project,
    types: project.types.map(each => (each === type ? one : each)),
  })
  const withRelation = (one: RandomRelation): Ruled => ({
    ...project,
    relations: project.relations.map(each => (each === relation ? one : each)),
  })
  const holding = random.one(['none', 'single', 'list', 'zone'] as const)
  const kind = random.one(KINDS)
  const withoutRelation: readonly [string, Ruled] =
    project.relations.length > 1
      ? [
          `no ${relation.name}`,
          { ...project, relations: project.relations.filter(each => each !== relation) },
        ]
      : [
          'a new relation',
          {
            ...project,
            relations: [...project.relations, { ...relation, name: freshName('r'), kind, twoWay: true }],
          },
        ]
  const edits: readonly (readonly [string, Ruled])[] = [
    [`${type.key}: drafts ${!type.drafts}`, withType({ ...type, drafts: !type.drafts })],
    [`${type.key}: locales ${!type.localized}`, withType({ ...type, localized: !type.localized })],
    [`${type.key}: held ${type.holding} becomes ${holding}`, withType({ ...type, holding })],
    [`${type.key}: indexed ${!type.indexed}`, withType({ ...type, indexed: !type.indexed })],
    renamePart(project, random),
    renameType(project, type),
    nestPart(project),
    withoutRelation,
    [`${relation.name}: ${relation.kind} to ${kind}`, withRelation({ ...relation, kind })],
    [
      `${relation.name}: two-way ${!relation.twoWay}`,
      withRelation({ ...relation, twoWay: !relation.twoWay }),
    ],
  ]
  return random.one(edits)
}

function renameType(project: Ruled, type: RuledType): readonly [string, Ruled] {
  const key = freshName('type')
  const renamed = (from: string): string => (from === type.key ? key : from)
  return [
    `${type.key} is renamed to ${key}`,
    {
      ...project,
      types: project.types.map(each =>
        each === type ? { ...type, key, renamedFrom: type.renamedFrom ?? type.key } : each,
      ),
      relations: project.relations.map(each => ({ ...each, from: renamed(each.from), to: renamed(each.to) })),
    },
  ]
}

function renamePart(project: Ruled, random: Chance): readonly [string, Ruled] {
  const part = random.one(project.parts)
  const key = freshName('parts.p')
  const renamed = { ...part, key, renamedFrom: part.renamedFrom ?? part.key }
  return [
    `${part.key} is renamed to ${key}`,
    { ...project, parts: project.parts.map(each => (each === part ? renamed : each)) },
  ]
}

function nestPart(project: Ruled): readonly [string, Ruled] {
  const [first, second] = project.parts
  if (first === undefined || second === undefined) return ['nothing', project]
  const parts = [first, { ...second, nested: !second.nested }]
  return [`${second.key}: nested ${!second.nested}`, { ...project, parts }]
}
