import { LruCache } from '../../base/lru-cache.ts'
import { memoryBytes } from '../../base/text.ts'
import type { Storage } from '../../model/storage.ts'
import { outline } from '../../plan/fingerprint.ts'
import { type PlanOptions, planQuery } from '../../plan/plan-query.ts'
import type { RestrictedQuery } from '../../query/query.ts'
import type { AnswerStatement, ParameterValue } from '../../sql/nodes.ts'
import type { Template } from '../../sql/statement.ts'

/** A template of a read with two populates takes some 7,000 bytes. */
const BOUNDS = { entries: 2000, bytes: 6_000_000 } as const

/** Bytes of memory. */
export const sizeOfTemplate = ({ text, parameters }: Template): number =>
  200 + memoryBytes(text) + 150 * parameters.length

export type QueryTerms = Omit<PlanOptions, 'placeOf'>

/** What is printed of a query's plan, and the values that are to be put in. */
export interface Planned<Printed> {
  readonly template: Printed
  readonly values: readonly ParameterValue[]
}

/** `documentId`: put in the place of the query's own; null: as it is. */
export type PlanOnce<Printed> = (
  query: RestrictedQuery,
  documentId: string | null,
  terms: QueryTerms,
) => Planned<Printed>

/**
 * Plans and prints once for all queries that differ in values alone, and hands out what came of it. `sizeOf`: bytes of
 * memory.
 */
export function planOnce<Printed>(
  print: (answer: AnswerStatement) => Printed,
  sizeOf: (template: Printed) => number,
): PlanOnce<Printed> {
  /** Kept as long as their storage: a reloaded project has another one. */
  const known = new WeakMap<Storage, LruCache<Printed>>()
  const templatesOf = (storage: Storage): LruCache<Printed> => {
    const before = known.get(storage)
    if (before) return before
    const templates = new LruCache(BOUNDS, sizeOf)
    known.set(storage, templates)
    return templates
  }
  const plan = (query: RestrictedQuery, terms: QueryTerms) => {
    const { key, values, placeOf } = outline(query, terms)
    const templates = templatesOf(terms.storage)
    const before = templates.get(key)
    if (before !== undefined) return { template: before, values, placeOf }
    const template = print(planQuery(query, { ...terms, placeOf }))
    templates.set(key, template)
    return { template, values, placeOf }
  }
  const planOfAny = rememberByQuery((query, terms) => {
    const take = { kind: 'one', documentId: '' } as const
    const { template, values, placeOf } = plan({ ...query, take }, terms)
    const place = placeOf(take)
    if (place === null) throw new TypeError(`a query of ${query.type.uid} has no place for its document`)
    return { template, values, place }
  })
  return (query, documentId, terms) => {
    if (documentId === null) return plan(query, terms)
    const { template, values, place } = planOfAny(query, terms)
    return { template, values: values.with(place, documentId) }
  }
}

/**
 * What a query's plan comes to, for `documentId` where the query is that of any document; of one that is asked again as
 * the very same object, and as it is, once.
 */
export function makeOf<Printed, Made>(
  plan: PlanOnce<Printed>,
  make: (planned: Planned<Printed>) => Made,
): (query: RestrictedQuery, terms: QueryTerms, documentId?: string) => Made {
  const whole = rememberByQuery((query, terms) => make(plan(query, null, terms)))
  return (query, terms, documentId) =>
    documentId === undefined ? whole(query, terms) : make(plan(query, documentId, terms))
}

/** Makes once what follows from queries that are asked again as the very same objects. */
function rememberByQuery<Made>(
  make: (query: RestrictedQuery, terms: QueryTerms) => Made,
): (query: RestrictedQuery, terms: QueryTerms) => Made {
  const known = new WeakMap<RestrictedQuery, QueryTerms & { readonly made: Made }>()
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
