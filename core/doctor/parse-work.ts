import type { Transaction } from '../database/database.ts'
import {
  type Attribute,
  type ContentType,
  type Holder,
  isLink,
  type Model,
  type ScalarAttribute,
  type ValueType,
} from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import {
  isListEntryOperator,
  isOperator,
  isTextual,
  type Operator,
  operatorAccepts,
  operatorTraits,
} from '../query/operators.ts'
import { isRecord, targetHolder } from '../query/parse-place.ts'
import { parseValue } from '../query/parse-value.ts'
import type { Comparison, Filter, Query, Sort, SortStep, Value, VersionChoice } from '../query/query.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'
import { depthOf, type SlowRead } from './slow-reads.ts'

/** A sample value of an attribute. */
export type Sampling = (holder: Holder, attribute: ScalarAttribute) => Value

/** Rebuilds a query from its description in the log (query/describe-query.ts); null if the model has changed since. */
export function parseWork({ work }: Pick<SlowRead, 'work'>, model: Model, sample: Sampling): Query | null {
  const type = [...model.contentTypes.values()].find(({ key }) => key === work.contentType)
  if (!type) return null
  const filter = work.filters === undefined ? null : parseFilter(work.filters, type, sample)
  const sort = (Array.isArray(work.sort) ? work.sort : []).map(input => parseSort(input, type))
  if (filter === undefined || !isWhole(sort)) return null
  return {
    kind: 'query',
    type,
    take: {
      kind: 'many',
      page: { start: work.cursor === true ? 0 : depthOf(work), limit: limitOf(work.limit) },
      total: work.total === 'estimate' ? 'estimate' : work.total === true,
      ...(work.cursor === true && { after: 'first' }),
    },
    status: statusOf(work.status),
    locale: work.locales === undefined ? { kind: 'all' } : { kind: 'these', codes: [model.defaultLocale] },
    selection: { fields: [], named: true, populate: [] },
    filter,
    search: work.search === undefined ? null : { text: 'a', attributes: textsOf(type) },
    publication: null,
    sort,
  }
}

const limitOf = (input: unknown): number =>
  typeof input === 'number' && Number.isInteger(input) && input > 0 ? input : 25

const statusOf = (input: unknown): VersionChoice =>
  input === 'draft' || input === 'latest' ? input : 'published'

const textsOf = ({ attributes }: ContentType): readonly ScalarAttribute[] =>
  [...attributes.values()].filter(
    (each): each is ScalarAttribute =>
      each.kind === 'scalar' && isTextual(each.type) && each.type !== 'password' && each.type !== 'locale',
  )

const isWhole = <Part>(parts: readonly (Part | undefined)[]): parts is readonly Part[] =>
  !parts.includes(undefined)

/** undefined: the model does not have it. */
function parseFilter(input: unknown, holder: Holder, sample: Sampling): Filter | undefined {
  if (!isRecord(input)) return undefined
  const parts = Object.entries(input).map(([key, inner]) => parsePart(key, inner, holder, sample))
  if (!isWhole(parts)) return undefined
  const [first] = parts
  return parts.length === 1 && first ? first : { kind: 'and', filters: parts }
}

function parsePart(key: string, inner: unknown, holder: Holder, sample: Sampling): Filter | undefined {
  if (key === '$not') {
    const filter = parseFilter(inner, holder, sample)
    return filter && { kind: 'not', filter }
  }
  if (key === '$and' || key === '$or') {
    const filters = (Array.isArray(inner) ? inner : []).map(part => parseFilter(part, holder, sample))
    return isWhole(filters) ? { kind: key === '$and' ? 'and' : 'or', filters } : undefined
  }
  const attribute = holder.attributes.get(key)
  if (attribute?.kind === 'scalar') return parseComparison(inner, attribute, sample(holder, attribute))
  const to = holderBehind(attribute)
  if (!to || !attribute || !(isLink(attribute) || attribute.kind === 'component')) return undefined
  const filter = parseFilter(inner, to, sample)
  return filter && { kind: 'related', attribute, scope: null, filter }
}

function holderBehind(attribute: Attribute | undefined): Holder | undefined {
  return (attribute && targetHolder(attribute)) ?? undefined
}

/** `$eq`, or `$in of 12`. */
function parseComparison(input: unknown, attribute: ScalarAttribute, value: Value): Comparison | undefined {
  const [operator = '', , count] = typeof input === 'string' ? input.split(' ') : []
  if (!isOperator(operator) || !operatorAccepts(operator, attribute.type)) return undefined
  const length = Math.min(MOST_VALUES, Number(count ?? 2))
  if (isListEntryOperator(operator, attribute.type))
    return { kind: 'comparison', attribute, operator, values: [value] }
  return { kind: 'comparison', attribute, operator, values: valuesFor(operator, value, length) }
}

const MOST_VALUES = 1_000

function valuesFor(operator: Operator, value: Value, count: number): readonly Value[] {
  const { arity, text } = operatorTraits(operator)
  const input = text ? String(value).slice(0, 3) : value
  switch (arity) {
    case 'flag':
      return [true]
    case 'two':
      return [input, input]
    case 'many':
      return Array.from({ length: count }, () => input)
    case 'one':
      return [input]
  }
}

/** `author.name:desc` */
function parseSort(input: unknown, type: ContentType): Sort | undefined {
  const [names = '', direction] = typeof input === 'string' ? input.split(':') : []
  const path: SortStep[] = []
  let holder: Holder = type
  for (const name of names.split('.')) {
    const attribute = holder.attributes.get(name)
    if (attribute?.kind === 'scalar')
      return { path, attribute, direction: direction === 'desc' ? 'desc' : 'asc' }
    const behind = holderBehind(attribute)
    if (!behind || !attribute || !(isLink(attribute) || attribute.kind === 'component')) return undefined
    path.push({ attribute, scope: null })
    holder = behind
  }
  return undefined
}

/** Samples attribute values: the median of some rows. The values are never printed. */
interface Samples {
  readonly sample: Sampling
  /** Queries the values requested so far. */
  load(transaction: Pick<Transaction, 'run'>): Promise<void>
}

export function openSamples(storage: Storage): Samples {
  const wanted = new Map<ScalarAttribute, Holder>()
  const known = new Map<ScalarAttribute, Value>()
  return {
    sample(holder, attribute) {
      if (!known.has(attribute)) wanted.set(attribute, holder)
      return known.get(attribute) ?? fallbackFor(attribute.type)
    },
    async load(transaction) {
      for (const [attribute, holder] of wanted) {
        const { rows } = await transaction.run(printSample(holder, attribute, storage))
        const value = parseValue(attribute, rows[0]?.[0] ?? null)
        known.set(attribute, value.ok ? value.value : fallbackFor(attribute.type))
      }
      wanted.clear()
    },
  }
}

/** The sample size; small enough to be fast. */
const ROWS = 1000

function printSample(holder: Holder, attribute: ScalarAttribute, storage: Storage) {
  const table = holder.holder === 'component' ? storage.componentTable(holder) : storage.table(holder)
  const column = ident(storage.column(holder, attribute.name))
  const some = `SELECT ${column} AS value FROM ${ident(table.name)} WHERE ${column} IS NOT NULL LIMIT ${ROWS}`
  const text = `SELECT to_jsonb(value) #>> '{}' FROM (${some}) AS few
    ORDER BY value OFFSET (SELECT count(*) / 2 FROM (${some}) AS few) LIMIT 1`
  return { text, values: [], name: 'look at a value' }
}

const FALLBACKS: { readonly [Type in ValueType]?: Value } = {
  id: 1,
  integer: 1,
  biginteger: '1',
  float: 1,
  decimal: '1',
  boolean: true,
  date: '2026-01-01',
  time: '12:00:00',
  datetime: '2026-01-01T00:00:00.000Z',
  timestamp: '2026-01-01T00:00:00.000Z',
  json: '1',
  blocks: '1',
  array: '1',
}

const fallbackFor = (type: ValueType): Value => FALLBACKS[type] ?? 'a'
