import { memoize } from '../base/memo.ts'
import type {
  Comparison,
  Filter,
  LinkScope,
  LocaleChoice,
  MorphPart,
  Page,
  PageCursor,
  Populate,
  RestrictedQuery,
  Selection,
  ShapePart,
  Sort,
  TextSearch,
  TotalChoice,
  VisibleVersions,
} from '../query/query.ts'
import type { ParameterValue } from '../sql/nodes.ts'
import type { PlanOptions } from './plan-query.ts'
import { clampOffset, isFar, sizedPage, sizeWord } from './rows.ts'
import { endsBehindRanked } from './search-matches.ts'

const TOTAL_KEYS = { true: 'T', false: 'M', estimate: 'E' } as const satisfies Record<
  `${TotalChoice}`,
  string
>

/** A query split into what the text of its statement depends on, and the values that are bound to it. */
export interface Outline {
  /** Equal for queries whose statements have the same text and the same parameter places. */
  readonly key: string
  readonly values: readonly ParameterValue[]
  /** The place of the first value of a part of the query, for the plan. */
  readonly placeOf: (part: object) => number | null
}

/**
 * Splits a query in one traversal. The key has everything that a plan depends on: attributes and types by number,
 * operators, and whether a page starts at the first row or far behind it. An object that the query uses in several
 * places differs from equal objects in the key, because a plan assigns parameter places by object identity.
 */
export function outline(
  query: RestrictedQuery,
  { shape, defaultLocale }: Pick<PlanOptions, 'shape' | 'defaultLocale'>,
): Outline {
  const walk = new Walk()
  const { take, type, status, locale, selection, filter, search, publication, sort } = query
  walk.key = `${typeof shape === 'string' ? shape : shape.key}${numberOf(type)}${status}${publication ?? ''}`
  walkLocale(locale, walk)
  if (take.kind === 'many') {
    walk.key += TOTAL_KEYS[`${take.total}`]
    walkPage(take.page, walk)
    const sized = sizedPage(query)
    if (sized) walk.key += sizeWord(sized)
    if (take.after) walkAfter(take.after, walk)
  } else if (take.recordId !== undefined) walk.place('I', take, take.recordId)
  else if (take.documentId === null) walk.key += 'S'
  else walk.place('O', take, take.documentId)
  walkSelection(selection, walk)
  if (filter) walkFilter(filter, walk)
  if (query.visibleVersions) walkVersions(query.visibleVersions, walk)
  if (search) {
    walk.place('Q', search, search.text)
    for (const attribute of search.attributes) walk.key += `${numberOf(attribute)},`
  }
  if (query.textSearch) walkTextSearch(query.textSearch, walk)
  if (query.textSearch && take.kind === 'many' && endsBehindRanked(take.page)) walk.key += 'E'
  walkSorts(sort, walk)
  walk.key += `@${defaultLocale}`
  return walk.outline()
}

/** The state of the traversal. */
class Walk {
  key = ''
  readonly #values: ParameterValue[] = []
  readonly #places = new Map<object, number>()

  /** Adds a part, marked by a letter, with its values. */
  place(letter: string, part: object, ...values: readonly ParameterValue[]): void {
    const known = this.#places.get(part)
    this.key += known === undefined ? letter : `${letter}=${known}`
    if (known !== undefined) return
    this.#places.set(part, this.#values.length)
    for (const value of values) this.#values.push(value)
  }

  outline(): Outline {
    const places = this.#places
    return { key: this.key, values: this.#values, placeOf: part => places.get(part) ?? null }
  }
}

let count = 0

/** The number of an attribute or a type, unique while the process runs. */
const numberOf = memoize((_: object): number => ++count)

function walkTextSearch(search: TextSearch, walk: Walk): void {
  const { text, paths, highlight, byRank } = search
  walk.place('X', search, text)
  walk.key += JSON.stringify([paths, highlight.map(({ name }) => name), byRank])
}

/** Locale codes are part of the key: there are few, and the plan depends on them. */
function walkLocale(locale: LocaleChoice, walk: Walk): void {
  if (locale.kind === 'these') walk.key += JSON.stringify(locale.codes)
}

function walkPage(page: Page, walk: Walk): void {
  walk.place(isFar(page) ? 'D' : page.start > 0 ? 'P' : 'p', page, page.limit, clampOffset(page))
}

/** The SQL depends on which keys are null. */
function walkAfter(after: PageCursor, walk: Walk): void {
  if (after === 'first') walk.key += 'F'
  else {
    const { keys, id } = after
    const values = keys.filter(key => key !== null)
    walk.place(`K${keys.map(key => (key === null ? '0' : '1')).join('')}`, after, id, ...values)
  }
}

function walkSelection({ fields, populate }: Selection, walk: Walk): void {
  walk.key += '{'
  for (const attribute of fields) walk.key += `${numberOf(attribute)},`
  for (const part of populate) walkPopulate(part, walk)
  walk.key += '}'
}

function walkPopulate(populate: Populate, walk: Walk): void {
  const { as, attribute, count } = populate
  walk.key += `${count ? 'N' : 'A'}${numberOf(attribute)}`
  if (as !== attribute.name) walk.key += JSON.stringify(as)
  if (populate.kind === 'zone') {
    for (const part of populate.parts) walkPart(part, walk)
    return
  }
  if (populate.kind === 'morph') {
    for (const part of populate.parts) walkMorphPart(part, walk)
    if (populate.page) walkPage(populate.page, walk)
    walk.key += ';'
    return
  }
  if (populate.kind === 'link') {
    walk.key += populate.status ?? ''
    walkScope(populate.scope, walk)
  }
  walkSelection(populate.selection, walk)
  if (populate.filter) walkFilter(populate.filter, walk)
  walkSorts(populate.sort, walk)
  if (populate.page) walkPage(populate.page, walk)
  walk.key += ';'
}

function walkPart({ holder, selection, filter }: ShapePart, walk: Walk): void {
  walk.key += `Z${numberOf(holder)}`
  walkSelection(selection, walk)
  if (filter) walkFilter(filter, walk)
}

function walkMorphPart({ source, scope = null, ...part }: MorphPart, walk: Walk): void {
  if (!source) return
  walk.key += `Y${numberOf(source)}`
  walkScope(scope, walk)
  walkPart(part, walk)
}

function walkScope(scope: LinkScope | null, walk: Walk): void {
  if (!scope) return
  walk.key += `<${scope.status ?? ''}`
  if (scope.where) walkFilter(scope.where, walk)
  if (scope.visibleVersions) walkVersions(scope.visibleVersions, walk)
  walk.key += '>'
}

function walkVersions({ published, draft }: VisibleVersions, walk: Walk): void {
  for (const condition of [published, draft]) {
    walk.key += '%'
    if (condition) walkFilter(condition, walk)
  }
}

function walkFilter(filter: Filter, walk: Walk): void {
  switch (filter.kind) {
    case 'and':
    case 'or':
      walk.key += filter.kind === 'and' ? '&(' : '|('
      for (const part of filter.filters) walkFilter(part, walk)
      walk.key += ')'
      return
    case 'not':
      walk.key += '!'
      walkFilter(filter.filter, walk)
      return
    case 'related':
      walk.key += `R${numberOf(filter.attribute)}`
      walkScope(filter.scope, walk)
      walkFilter(filter.filter, walk)
      return
    case 'comparison':
      walkComparison(filter, walk)
  }
}

/** A list is one parameter. A null test has no parameter: its operand decides the SQL. */
function walkComparison(comparison: Comparison, walk: Walk): void {
  const { attribute, operator, values } = comparison
  walk.key += `C${numberOf(attribute)}${operator}`
  if (operator === '$null' || operator === '$notNull') walk.key += String(values[0])
  else if (operator === '$in' || operator === '$notIn') walk.place('L', comparison, values)
  else walk.place(values.length === 1 ? 'V' : `${values.length}V`, comparison, ...values)
}

function walkSorts(sorts: readonly Sort[], walk: Walk): void {
  for (const { path, attribute, direction } of sorts) {
    walk.key += direction === 'asc' ? '^' : 'v'
    for (const step of path) {
      walk.key += `${numberOf(step.attribute)}.`
      walkScope(step.scope, walk)
    }
    walk.key += numberOf(attribute)
  }
}
