import type { Writing } from '../../documents/writing.ts'
import type { Chance } from './random.ts'
import { isToMany, KINDS, newRelation, type RandomRelation, sidesOf } from './random-relations.ts'

/** A project whose drafts, locales and relations are edited at random. */
export interface Shifting {
  readonly types: readonly ShiftedType[]
  readonly relations: readonly RandomRelation[]
}

export interface ShiftedType {
  readonly key: string
  readonly drafts: boolean
  readonly localized: boolean
}

const LOCALES = ['en', 'fr'] as const

/** Two types that link to one another, and one of them to itself. */
export const newProject = (random: Chance): Shifting => {
  const relation = (name: string, from: string, to: string) => newRelation(random, name, from, to)
  const type = (key: string): ShiftedType => ({ key, drafts: random.onceIn(2), localized: random.onceIn(2) })
  return {
    types: [type('book'), type('person')],
    relations: [
      relation('writer', 'book', 'person'),
      relation('likes', 'person', 'book'),
      relation('next', 'book', 'book'),
    ],
  }
}

/** The project in YAML. */
export function printShifting({ types, relations }: Shifting): string {
  const declared = types.map(({ key, drafts, localized }) => [
    key,
    {
      draftAndPublish: drafts,
      localized,
      attributes: { name: 'string', ...Object.fromEntries(relations.flatMap(each => sidesOf(each, key))) },
    },
  ])
  return `i18n: { defaultLocale: en, locales: [en, fr] }
contentTypes: ${JSON.stringify(Object.fromEntries(declared))}`
}

/** One thing changed; and in words what. */
export function shift(project: Shifting, random: Chance): readonly [string, Shifting] {
  const type = random.one(project.types)
  const relation = random.one(project.relations)
  const withType = (one: ShiftedType): Shifting => ({
    ...project,
    types: project.types.map(each => (each === type ? one : each)),
  })
  const withRelation = (one: RandomRelation): Shifting => ({
    ...project,
    relations: project.relations.map(each => (each === relation ? one : each)),
  })
  const kind = random.one(KINDS)
  const edits: readonly (readonly [string, Shifting])[] = [
    [`${type.key}: drafts ${!type.drafts}`, withType({ ...type, drafts: !type.drafts })],
    [`${type.key}: locales ${!type.localized}`, withType({ ...type, localized: !type.localized })],
    [
      `${type.key}: drafts ${!type.drafts}, locales ${!type.localized}`,
      withType({ ...type, drafts: !type.drafts, localized: !type.localized }),
    ],
    [`${relation.name}: from ${relation.kind} to ${kind}`, withRelation({ ...relation, kind })],
    [
      `${relation.name}: two-way ${!relation.twoWay}`,
      withRelation({ ...relation, twoWay: !relation.twoWay }),
    ],
    [
      `${relation.name}: ${relation.kind} to ${kind}, ${type.key}: locales ${!type.localized}`,
      {
        ...withType({ ...type, localized: !type.localized }),
        relations: withRelation({ ...relation, kind }).relations,
      },
    ],
  ]
  return random.one(edits)
}

/** Documents that were made, by their type's key. */
export type Made = Map<string, string[]>

/** A document of each type and links between all, as callers write them: drafts, translations, lists in any order. */
export async function fillAtRandom(
  writing: Writing,
  project: Shifting,
  made: Made,
  random: Chance,
): Promise<void> {
  for (const type of project.types) {
    const place = { ...(type.drafts && { status: random.one(['draft', 'published'] as const) }) }
    const document = await writing.create(type.key, { name: `${type.key} ${random.below(100)}` }, place)
    made.set(type.key, [...(made.get(type.key) ?? []), String(document.documentId)])
    if (type.localized && random.onceIn(2))
      await writing.update(
        type.key,
        document.documentId,
        { name: `fr ${random.below(100)}` },
        { ...place, locale: 'fr' },
      )
  }
  for (const relation of project.relations) await linkAtRandom(writing, project, relation, made, random)
}

async function linkAtRandom(
  writing: Writing,
  { types }: Shifting,
  relation: RandomRelation,
  made: Made,
  random: Chance,
): Promise<void> {
  const { name, from, to } = relation
  const owner = types.find(({ key }) => key === from)
  const id = random.one(made.get(from) ?? [])
  const targets = (made.get(to) ?? []).filter(() => random.onceIn(2))
  const status = owner?.drafts ? random.one(['draft', 'published'] as const) : 'published'
  // A document without the default locale cannot be linked from it.
  const there: string[] = []
  for (const target of targets) if (await writing.find(to, target, { status: 'draft' })) there.push(target)
  if (!(await writing.find(from, id, { status: 'draft' }))) return
  await writing.update(from, id, { [name]: isToMany(relation) ? there : (there[0] ?? null) }, { status })
}

/** The visible state of all documents: by type, document, status, locale and attribute. */
export type Shown = ReadonlyMap<string, readonly string[]>

export async function readShown(writing: Writing, project: Shifting, made: Made): Promise<Shown> {
  const shown = new Map<string, readonly string[]>()
  for (const place of placesOf(project, made)) {
    const { key, id, ...where } = place
    const row = await writing.find(key, id, where)
    const called = [key, id, where.status, where.locale].join(' ')
    if (!row) continue
    shown.set(`${called} name`, [String(row.name)])
    for (const { name } of project.relations.filter(({ from }) => from === key))
      shown.set(`${called} ${name}`, idsIn(row[name]))
  }
  return shown
}

const placesOf = ({ types }: Shifting, made: Made) =>
  types.flatMap(({ key, drafts, localized }) =>
    (made.get(key) ?? []).flatMap(id =>
      (drafts ? (['draft', 'published'] as const) : (['published'] as const)).flatMap(status =>
        (localized ? LOCALES : [LOCALES[0]]).map(locale => ({ key, id, status, locale })),
      ),
    ),
  )

const idsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : value ? [value] : []).map(each => String(each.documentId))
