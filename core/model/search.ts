import { memoize } from '../base/memo.ts'
import { constraintName, digestOf, identifier } from './identifiers.ts'
import {
  type Attribute,
  type Component,
  type ContentType,
  componentsOf,
  type Model,
  type ScalarAttribute,
} from './model.ts'
import {
  type Index,
  ownerName,
  type SearchText,
  type SearchTrigger,
  type SearchVector,
  type Storage,
  type TypeSearch,
} from './storage.ts'

/** A declared attribute of a search. */
export interface SearchField {
  /** As declared: `title`, `blocks.text`. */
  readonly path: string
  readonly weight: 'A' | 'B' | 'C' | 'D'
  /** The attribute of the content-type: the text itself, or the component or zone that contains it. */
  readonly attribute: Attribute
  /** The texts in components; empty: the attribute itself is the text. */
  readonly parts: readonly { readonly component: Component; readonly attribute: ScalarAttribute }[]
}

/** The fields of `search:` in the order of the project file. */
export const searchFields = memoize(
  (type: ContentType): readonly SearchField[] =>
    type.search?.fields.map(({ path, weight }) => {
      const [name = '', inner] = path.split('.')
      const attribute = type.attributes.get(name)
      if (!attribute) throw new TypeError(`${type.uid} has no attribute ${name}`)
      return { path, weight, attribute, parts: inner === undefined ? [] : partsOf(attribute, inner) }
    }) ?? [],
)

const partsOf = (attribute: Attribute, name: string): SearchField['parts'] =>
  componentsOf(attribute).flatMap(component => {
    const inner = component.attributes.get(name)
    return inner?.kind === 'scalar' ? [{ component, attribute: inner }] : []
  })

/** The sets of searched paths that roles and API tokens may read. */
export type SearchSets = ReadonlyMap<ContentType, readonly ReadonlySet<string>[]>

/** Raised when vectors of the functions of core/sql/search-ddl.ts have other words: a migration then fills new ones. */
const VERSION = 4

/** Each vector costs time and space with every write. `chooseSets` exceeds this only for callers who could search in none of them. */
const MAX_VECTORS = 6

/** The vectors of a type: one for all paths, then one for each smaller set, the largest first. null: no search. */
export function compileSearch(
  type: ContentType,
  sets: SearchSets,
  { model, layout }: { readonly model: Model; readonly layout: Omit<Storage, 'search' | 'tables'> },
): TypeSearch | null {
  const fields = searchFields(type)
  if (fields.length === 0) return null
  const configurations = configurationsOf(type, model)
  const all = new Set(fields.map(({ path }) => path))
  const smaller = (sets.get(type) ?? []).toSorted((one, other) => other.size - one.size)
  const distinct = new Map(
    [all, ...smaller].filter(({ size }) => size > 0).map(set => [keyOf(set, fields), set]),
  )
  const words = type.search?.typos ? identifier(`plinth_words_${layout.table(type).name}`) : null
  const vectors = chooseSets([...distinct.values()]).map((paths): SearchVector => {
    const texts = fields.filter(({ path }) => paths.has(path)).flatMap(field => textsOf(type, field, layout))
    // A filled column also says that the words of its texts are known.
    const column = `_search_${digestOf({ texts, configurations, words, version: VERSION })}`
    return { column, paths, texts }
  })
  return { vectors, configurations, words }
}

/**
 * The largest sets, and further small ones until every set contains a chosen one: a caller searches in vectors of paths that they
 * may read. `sets`: the largest first.
 */
function chooseSets(sets: readonly ReadonlySet<string>[]): readonly ReadonlySet<string>[] {
  const chosen = sets.slice(0, MAX_VECTORS)
  for (const set of sets.slice(MAX_VECTORS).toReversed())
    if (!chosen.some(one => [...one].every(path => set.has(path)))) chosen.push(set)
  return chosen.toSorted((one, other) => other.size - one.size)
}

const keyOf = (set: ReadonlySet<string>, fields: readonly SearchField[]): string =>
  fields
    .filter(({ path }) => set.has(path))
    .map(({ path }) => path)
    .join(' ')

function textsOf(
  type: ContentType,
  { attribute, parts, weight }: SearchField,
  layout: Omit<Storage, 'search' | 'tables'>,
): readonly SearchText[] {
  if (attribute.kind === 'scalar') {
    const column = layout.column(type, attribute.name)
    return [{ column, weight, blocks: attribute.type === 'blocks', component: null }]
  }
  return parts.map(part => ({
    column: layout.column(part.component, part.attribute.name),
    weight,
    blocks: part.attribute.type === 'blocks',
    component: {
      table: layout.componentTable(part.component).name,
      owner: ownerName(type, attribute.name),
    },
  }))
}

/** The languages of PostgreSQL's text search configurations from version 14 on. */
const LANGUAGES: Readonly<Record<string, string>> = {
  ...{ ar: 'arabic', ca: 'catalan', da: 'danish', de: 'german', el: 'greek', en: 'english', es: 'spanish' },
  ...{ eu: 'basque', fi: 'finnish', fr: 'french', ga: 'irish', hi: 'hindi', hu: 'hungarian', hy: 'armenian' },
  ...{ id: 'indonesian', it: 'italian', lt: 'lithuanian', nb: 'norwegian', ne: 'nepali', nl: 'dutch' },
  ...{ nn: 'norwegian', no: 'norwegian', pt: 'portuguese', ro: 'romanian', ru: 'russian', sr: 'serbian' },
  ...{ sv: 'swedish', ta: 'tamil', tr: 'turkish', yi: 'yiddish' },
}

/** The configurations that every server has. */
export const CONFIGURATIONS: readonly string[] = ['simple', ...new Set(Object.values(LANGUAGES))]

/** By locale, the default locale first. A type without locales has the default locale's. */
function configurationsOf(
  { localized, search }: ContentType,
  { locales, defaultLocale }: Model,
): ReadonlyMap<string, string> {
  const codes = localized ? locales.map(({ code }) => code) : []
  const language = (code: string) => code.split('-')[0]?.toLowerCase() ?? code
  return new Map(
    [defaultLocale, ...codes].map(code => [
      code,
      search?.languages[code] ?? LANGUAGES[language(code)] ?? 'simple',
    ]),
  )
}

export const searchIndexes = (table: string, { vectors }: TypeSearch): readonly Index[] =>
  vectors.map(({ column }) => ({
    name: constraintName(table, column, 'index'),
    columns: [column],
    unique: false,
    where: null,
    method: 'gin',
  }))

/** The triggers of one table: those that fill its vectors, and those that refill the vectors of the owners of components. */
export function searchTriggers(
  table: string,
  layout: Omit<Storage, 'tables'>,
  types: readonly ContentType[],
): readonly SearchTrigger[] {
  return types.flatMap(type => {
    const search = layout.search(type)
    if (!search) return []
    const owner = layout.table(type)
    const base = { table: owner.name, key: owner.key, status: owner.status, locale: owner.locale }
    if (owner.name === table) return [named({ kind: 'fill', ...base, ...search }, 'fill')]
    const texts = search.vectors.flatMap(vector =>
      vector.texts
        .filter(({ component }) => component?.table === table)
        .map(text => ({ text, column: vector.column })),
    )
    const owners = [...new Set(texts.flatMap(({ text }) => text.component?.owner ?? []))]
    const vector = search.vectors[0]?.column
    if (owners.length === 0 || vector === undefined) return []
    const columns = [...new Set(texts.map(({ text }) => text.column))]
    return [named({ kind: 'refill', ...base, owners, columns, vector }, 'refill')]
  })
}

type Unnamed = SearchTrigger extends infer Each
  ? Each extends SearchTrigger
    ? Omit<Each, 'name'>
    : never
  : never

/** The name contains a digest of the definition: a trigger with the name of a wanted one does what is wanted. */
function named(trigger: Unnamed, word: string): SearchTrigger {
  return {
    ...trigger,
    name: `plinth_search_${word}_${digestOf({ version: VERSION, trigger })}`,
  } as SearchTrigger
}
