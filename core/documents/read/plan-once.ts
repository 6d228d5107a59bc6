import { LruCache } from '../../base/lru-cache.ts'
import { memoize } from '../../base/memo.ts'
import { detachString, entityTag, memoryBytes } from '../../base/text.ts'
import type { CacheableRead } from '../../cache/answer-store.ts'
import type { Storage } from '../../model/storage.ts'
import { outline } from '../../plan/fingerprint.ts'
import { type PlanOptions, planQuery } from '../../plan/plan-query.ts'
import type { RestrictedQuery } from '../../query/query.ts'
import type { AnswerStatement, ParameterValue } from '../../sql/nodes.ts'
import { printTemplate, printVersioned, type VersionedTemplate } from '../../sql/print.ts'
import { bind, type Statement, type Template, toKeep } from '../../sql/statement.ts'
import { changeLayout } from '../../sql/version-ddl.ts'

/** A template of a read with two populates takes some 7,000 bytes. */
const BOUNDS = { entries: 2000, bytes: 6_000_000 } as const

/** Bytes of memory. */
export const sizeOfTemplate = ({ text, parameters }: Template): number =>
  200 + memoryBytes(text) + 150 * parameters.length

export type QueryOptions = Omit<PlanOptions, 'placeOf'>

/** The printed plan of a query, and the values of its parameters. */
export interface Planned<Printed> {
  readonly template: Printed
  readonly values: readonly ParameterValue[]
}

/** `documentId`: put in the place of the query's own; null: as it is. */
export type PlanOnce<Printed> = (
  query: RestrictedQuery,
  documentId: string | null,
  options: QueryOptions,
) => Planned<Printed>

/**
 * Plans and prints once for all queries that differ in values alone, and hands out what came of it. `sizeOf`: bytes of
 * memory.
 */
export function planOnce<Printed>(
  print: (answer: AnswerStatement, storage: Storage) => Printed,
  sizeOf: (template: Printed) => number,
): PlanOnce<Printed> {
  /** Templates live as long as their storage: a reloaded project has another one. */
  const templatesOf = memoize((_: Storage) => new LruCache<Printed>(BOUNDS, sizeOf))
  const plan = (query: RestrictedQuery, options: QueryOptions) => {
    const { key, values, placeOf } = outline(query, options)
    const templates = templatesOf(options.storage)
    const before = templates.get(key)
    if (before !== undefined) return { template: before, values, placeOf }
    const template = print(planQuery(query, { ...options, placeOf }), options.storage)
    templates.set(key, template)
    return { template, values, placeOf }
  }
  const planOfAny = rememberByQuery((query, options) => {
    const take = { kind: 'one', documentId: '' } as const
    const { template, values, placeOf } = plan({ ...query, take }, options)
    const place = placeOf(take)
    if (place === null) throw new TypeError(`a query of ${query.type.uid} has no place for its document`)
    return { template, values, place }
  })
  return (query, documentId, options) => {
    if (documentId === null) return plan(query, options)
    const { template, values, place } = planOfAny(query, options)
    return { template, values: values.with(place, documentId) }
  }
}

/**
 * Makes a result from the plan of a query, with `documentId` filled in if the query names none. Without a documentId the
 * result is cached by query object.
 */
export function makeOf<Printed, Made>(
  plan: PlanOnce<Printed>,
  make: (planned: Planned<Printed>) => Made,
): (query: RestrictedQuery, options: QueryOptions, documentId?: string) => Made {
  const whole = rememberByQuery((query, options) => make(plan(query, null, options)))
  return (query, options, documentId) =>
    documentId === undefined ? whole(query, options) : make(plan(query, documentId, options))
}

/** Caches a result by query object. The options of the last call are part of the key. */
function rememberByQuery<Made>(
  make: (query: RestrictedQuery, options: QueryOptions) => Made,
): (query: RestrictedQuery, options: QueryOptions) => Made {
  const known = new WeakMap<RestrictedQuery, QueryOptions & { readonly made: Made }>()
  return (query, { storage, defaultLocale, shape, maxBytes }) => {
    const before = known.get(query)
    if (before?.storage === storage && before.defaultLocale === defaultLocale && before.shape === shape)
      return before.made
    // One storage has one limit: that of its project.
    const made = make(query, { storage, defaultLocale, shape, ...(maxBytes !== undefined && { maxBytes }) })
    known.set(query, { storage, defaultLocale, shape, made })
    return made
  }
}

const plan = planOnce(answer => toKeep(printTemplate(answer)), sizeOfTemplate)

/** The one statement of a query. It is planned and printed once for all queries that differ in values alone. */
export const toStatement = makeOf(plan, ({ template, values }) => bind(template, values))

/** A statement that reads one table once. */
interface SingleTableStatement extends Statement {
  readonly table: string
  /** The same object for all queries that share a text. */
  readonly plan: object
}

/** The statement of a query that reads one table once; null: the query reads more. */
export const toSingleTableStatement = makeOf(plan, ({ template, values }): SingleTableStatement | null => {
  const { table } = template
  return table === undefined ? null : { ...bind(template, values), table, plan: template }
})

/** With names of its texts, which are long. */
interface NamedTemplate extends VersionedTemplate {
  readonly name: string
  readonly totalName: string
  /** The place of the documentId among the values of the statement; -1: the rows may have any. */
  readonly documentIdAt: number
}

const tablesOf = memoize((storage: Storage) => new Map(storage.tables.map(table => [table.name, table])))

function nameAll(answer: AnswerStatement, storage: Storage): NamedTemplate {
  const layoutOf = (name: string) => {
    const table = tablesOf(storage).get(name)
    return table ? changeLayout(table) : null
  }
  const printed = printVersioned(answer, layoutOf)
  const total = printed.total && toKeep(printed.total)
  const documentId = printed.uses?.root?.documentId
  return {
    ...toKeep(printed),
    uncachedText: detachString(printed.uncachedText),
    tableNames: detachString(printed.tableNames),
    total,
    uses: printed.uses,
    name: entityTag(printed.text),
    totalName: entityTag(total?.text ?? ''),
    documentIdAt: documentId ? printed.parameters.indexOf(documentId) : -1,
  }
}

/** Bytes of what an answer of a statement depends on, for each table. */
const SIZE_OF_USES = 300

const cacheablePlan = planOnce(nameAll, template => {
  const { uncachedText: plain, tableNames, total, uses } = template
  const texts = memoryBytes(plain) + memoryBytes(tableNames) + (total ? sizeOfTemplate(total) : 0)
  return sizeOfTemplate(template) + texts + SIZE_OF_USES * (uses?.tables.size ?? 0)
})

/** The statement of a query whose answer can be cached. It is planned and printed once, like that of `toStatement`. */
export const toCacheableRead = makeOf(cacheablePlan, ({ template, values }): CacheableRead => {
  const { total, tableNames, uncachedText: plain, uses, name, totalName, documentIdAt } = template
  const statement = bind(template, values)
  const documentId = statement.values[documentIdAt]
  return {
    key: name + JSON.stringify(statement.values),
    statement,
    uncachedText: plain,
    tableNames,
    totalKey: total && totalName + keyOf(total, values),
    uses,
    documentId: typeof documentId === 'string' ? documentId : null,
  }
})

const keyOf = (total: Template, values: readonly ParameterValue[]): string =>
  JSON.stringify(bind(total, values).values)
