import type { Chance } from './random.ts'

/** A project that is edited at random. What keeps its `id` is the same thing, whatever its name and type. */
export interface Draft {
  readonly types: readonly DraftType[]
}

export interface DraftType {
  readonly id: string
  readonly key: string
  readonly renamedFrom?: string
  readonly drafts: boolean
  readonly attributes: readonly DraftAttribute[]
}

export interface DraftAttribute {
  readonly id: string
  readonly name: string
  readonly renamedFrom?: string
  readonly type: (typeof TYPES)[number]
  readonly required: boolean
  readonly unique: boolean
  readonly backfill?: string | number | boolean
}

export const TYPES = [
  'string',
  'text',
  'integer',
  'biginteger',
  'float',
  'decimal',
  'boolean',
  'date',
  'time',
  'datetime',
  'json',
  'array',
  'email',
  'enumeration',
] as const

export const ENUM = ['news', 'opinion', '1'] as const

const BACKFILLS: Readonly<Partial<Record<DraftAttribute['type'], string | number | boolean>>> = {
  string: 'none',
  text: 'none',
  integer: 7,
  float: 7.5,
  boolean: false,
  date: '2026-01-01',
}

/** The project in YAML. */
export function print({ types }: Draft): string {
  const declared = types.map(({ key, renamedFrom, drafts, attributes }) => [
    key,
    {
      ...(renamedFrom !== undefined && { renamedFrom }),
      draftAndPublish: drafts,
      attributes: Object.fromEntries(attributes.map(one => [one.name, declaration(one)])),
    },
  ])
  return `contentTypes: ${JSON.stringify(Object.fromEntries(declared))}`
}

const declaration = ({ type, required, unique, backfill, renamedFrom }: DraftAttribute): object => ({
  type,
  ...(type === 'enumeration' && { enum: ENUM }),
  ...(required && { required }),
  ...(unique && { unique }),
  ...(backfill !== undefined && { backfill }),
  ...(renamedFrom !== undefined && { renamedFrom }),
})

/** A renamed name is not new for the next edit. */
const settled = ({ types }: Draft): Draft => ({
  types: types.map(({ renamedFrom: _, ...type }) => ({
    ...type,
    attributes: type.attributes.map(({ renamedFrom: __, ...one }) => one),
  })),
})

let made = 0
const fresh = (kind: string): string => `${kind}${++made}`

export const newType = (random: Chance): DraftType => {
  const key = fresh('thing')
  const attributes = [newAttribute(random), newAttribute(random)]
  return { id: key, key, drafts: random.onceIn(3), attributes }
}

function newAttribute(random: Chance): DraftAttribute {
  const name = fresh('value')
  const type = random.one(TYPES)
  const backfill = BACKFILLS[type]
  const required = backfill !== undefined && random.onceIn(3)
  return { id: name, name, type, required, unique: false, ...(required && { backfill }) }
}

/** One thing changed; and in words what. */
export function edit(before: Draft, random: Chance): readonly [string, Draft] {
  const draft = settled(before)
  const type = random.one(draft.types)
  const attribute = random.one(type.attributes)
  const others = draft.types.filter(one => one !== type)
  const withType = (one: DraftType): Draft => ({ types: [...others, one] })
  const withAttribute = (one: DraftAttribute): Draft =>
    withType({ ...type, attributes: type.attributes.map(each => (each === attribute ? one : each)) })
  const place = `${type.key}.${attribute.name}`
  const edits: readonly (() => readonly [string, Draft])[] = [
    () => ['new type', { types: [...draft.types, newType(random)] }],
    () => [
      `new attribute in ${type.key}`,
      withType({ ...type, attributes: [...type.attributes, newAttribute(random)] }),
    ],
    () => {
      const key = fresh('thing')
      return [`${type.key} is renamed to ${key}`, withType({ ...type, key, renamedFrom: type.key })]
    },
    () => {
      const name = fresh('value')
      return [
        `${place} is renamed to ${name}`,
        withAttribute({ ...attribute, name, renamedFrom: attribute.name }),
      ]
    },
    ...[1, 2, 3].map(() => () => {
      const kind = random.one(TYPES)
      const { backfill: _, ...rest } = attribute
      const changed = { ...rest, type: kind, required: false, unique: false }
      return [`${place} changes from ${attribute.type} to ${kind}`, withAttribute(changed)] as const
    }),
    () => [`${place} is required`, withAttribute({ ...attribute, required: !attribute.required })],
    () => [
      `${place} is unique`,
      withAttribute({ ...attribute, unique: canBeUnique(attribute) && !attribute.unique }),
    ],
    () => [`${type.key} has drafts`, withType({ ...type, drafts: !type.drafts })],
    () => [`no ${place}`, withType({ ...type, attributes: atLeastOne(type.attributes, attribute) })],
    () => [`no ${type.key}`, others.length === 0 ? draft : { types: others }],
  ]
  return random.one(edits)()
}

const canBeUnique = ({ type }: DraftAttribute): boolean => type === 'string' || type === 'integer'

const atLeastOne = (all: readonly DraftAttribute[], but: DraftAttribute): readonly DraftAttribute[] =>
  all.length === 1 ? all : all.filter(one => one !== but)
