import type { ExpectedLists } from '../../model/blueprint.ts'
import { fitsIndex } from '../../model/columns.ts'
import { type ContentType, isLink, type Model } from '../../model/model.ts'
import type { Settings } from '../../project/settings/settings.ts'
import type { Operator } from '../../query/operators.ts'
import type { Comparison, Filter, RelatedFilter } from '../../query/query.ts'
import { decide } from '../decide.ts'
import { resolveHolders } from '../holders.ts'
import type { PermissionTable } from '../permission-entries.ts'
import { compileCondition } from './compile-condition.ts'

/** An index costs each write of the type: so many a type at most, of so many attributes. */
const MAX_LISTS = 5
const MAX_ATTRIBUTES = 4

/** The lists that conditions of roles and API tokens make: what they narrow each type by. Conditions that are wrong make none. */
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
    .flatMap(cells => conditionsOf(type, cells, model))
    .map(indexAttributes)
    .filter(names => names.length > 0)
  const distinct = new Map(lists.map(names => [names.join(' '), names]))
  return [...distinct.values()].slice(0, MAX_LISTS)
}

function conditionsOf(type: ContentType, cells: PermissionTable, model: Model): readonly Filter[] {
  return ['find', 'readDrafts'].flatMap(action => {
    const { said } = decide(cells, type, action)
    const where = typeof said === 'object' ? said.where : undefined
    const compiled = where && compileCondition(where, type, model)
    if (!compiled?.ok) return []
    return [compiled.value.kind === 'fixed' ? compiled.value.filter : compiled.value.sample]
  })
}

/** What is compared with one value stands first. */
function indexAttributes(filter: Filter): readonly string[] {
  const { exact, others } = comparedAttributes(filter)
  return [...exact, ...others]
}

/** Attributes that an index could find documents by; none where a link, which has an index, leads to few already. */
export interface ComparedAttributes {
  /** With one value. */
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

/** What a filter asks of the type's own columns, and of other tables. */
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

/** What asks for parts of texts, or folds them, reads every text anyway. */
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
