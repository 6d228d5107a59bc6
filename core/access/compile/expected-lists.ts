import { fitsIndex } from '../../model/columns.ts'
import type { ExpectedLists } from '../../model/layout.ts'
import { type ContentType, isLink, type Model } from '../../model/model.ts'
import type { Settings } from '../../project/settings/settings.ts'
import type { Operator } from '../../query/operators.ts'
import type { Comparison, Filter, RelatedFilter } from '../../query/query.ts'
import { decide } from '../decide.ts'
import { resolveHolders } from '../holders.ts'
import type { PermissionTable } from '../permission-entries.ts'
import { compileCondition } from './compile-condition.ts'

/** Each index makes writes of its type slower, so their number and width are limited. */
const MAX_LISTS = 5
const MAX_ATTRIBUTES = 4

/** The attribute lists that conditions of roles and API tokens filter each type by. Invalid conditions are ignored. */
export function expectedLists(settings: Settings, model: Model): ExpectedLists {
  const { roles, tokens } = resolveHolders(settings)
  const holders = [...roles.values(), ...tokens.values()]
  return new Map([...model.contentTypes.values()].map(type => [type, listsOf(type, holders, model)]))
}

function listsOf(
  type: ContentType,
  holders: readonly PermissionTable[],
  model: Model,
): readonly (readonly string[])[] {
  const lists = holders
    .flatMap(entries => conditionsOf(type, entries, model))
    .map(indexAttributes)
    .filter(names => names.length > 0)
  const distinct = new Map(lists.map(names => [names.join(' '), names]))
  return [...distinct.values()].slice(0, MAX_LISTS)
}

function conditionsOf(type: ContentType, entries: PermissionTable, model: Model): readonly Filter[] {
  return ['find', 'readDrafts'].flatMap(action => {
    const { value } = decide(entries, type, action)
    const where = typeof value === 'object' ? value.where : undefined
    const compiled = where && compileCondition(where, type, model)
    if (!compiled?.ok) return []
    return [compiled.value.kind === 'fixed' ? compiled.value.filter : compiled.value.sample]
  })
}

/** Attributes that are compared with one value come first, as an index needs it. */
function indexAttributes(filter: Filter): readonly string[] {
  const { exact, others } = comparedAttributes(filter)
  return [...exact, ...others]
}

/** Attributes that an index could serve; none if the filter has a selective link, which has its own index. */
export interface ComparedAttributes {
  /** Compared with one value. */
  readonly exact: readonly string[]
  readonly others: readonly string[]
}

export function comparedAttributes(filter: Filter): ComparedAttributes {
  const terms = conjunctsOf(filter)
  if (terms.some(isSelectiveLink)) return { exact: [], others: [] }
  const served = terms.map(comparisonsIn).filter(comparisons => comparisons.every(isIndexable))
  const exact = served.filter(comparisons => comparisons.every(isExact))
  const others = served.filter(comparisons => !exact.includes(comparisons))
  const names = namesIn(exact)
  return {
    exact: names.slice(0, MAX_ATTRIBUTES),
    others: namesIn(others)
      .filter(name => !names.includes(name))
      .slice(0, Math.max(0, MAX_ATTRIBUTES - names.length)),
  }
}

const namesIn = (parts: readonly (readonly Filter[])[]): readonly string[] => [
  ...new Set(parts.flat().flatMap(part => (part.kind === 'comparison' ? part.attribute.name : []))),
]

const conjunctsOf = (filter: Filter): readonly Filter[] =>
  filter.kind === 'and' ? filter.filters.flatMap(conjunctsOf) : [filter]

const isSelectiveLink = (term: Filter): boolean =>
  term.kind === 'related' && isLink(term.attribute) && conjunctsOf(term.filter).some(isExact)

/** The comparisons of a filter with the type's own columns, and its filters on related tables. */
export function comparisonsIn(filter: Filter): readonly (Comparison | RelatedFilter)[] {
  switch (filter.kind) {
    case 'comparison':
    case 'related':
      return [filter]
    case 'not':
      return comparisonsIn(filter.filter)
    default:
      return filter.filters.flatMap(comparisonsIn)
  }
}

const isExact = (part: Filter): boolean => part.kind === 'comparison' && EXACT_OPERATORS.has(part.operator)

const isIndexable = (part: Comparison | RelatedFilter): boolean =>
  part.kind === 'comparison' &&
  INDEXABLE.has(part.operator) &&
  fitsIndex(part.attribute) &&
  part.attribute.type !== 'id' &&
  part.attribute.type !== 'documentId'

const EXACT_OPERATORS: ReadonlySet<Operator> = new Set(['$eq', '$in', '$null'])

/** Operators on parts of a text, and case-insensitive ones, scan every row anyway. */
const INDEXABLE: ReadonlySet<Operator> = new Set([
  ...EXACT_OPERATORS,
  '$ne',
  '$notIn',
  '$notNull',
  '$lt',
  '$lte',
  '$gt',
  '$gte',
  '$between',
])
