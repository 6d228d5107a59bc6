import { BoundedMap } from '../base/bounded-map.ts'
import type { Storage } from '../model/storage.ts'
import { outline } from '../plan/outline.ts'
import { type PlanTerms, planQuery } from '../plan/plan-query.ts'
import type { RestrictedQuery } from '../query/query.ts'
import { printTemplate } from '../sql/print.ts'
import type { Statement } from '../sql/statement.ts'
import { bind, type Template } from '../sql/template.ts'

/** A template of a read with two populates takes some 3,000 characters. */
const BOUNDS = { entries: 2000, characters: 8_000_000 } as const

type Templates = BoundedMap<Template>

/** As long as their storage is there: a project that is loaded anew has others. */
const known = new WeakMap<Storage, Templates>()

/** Of queries that are asked again as the very same objects. */
const printed = new WeakMap<RestrictedQuery, Omit<PlanTerms, 'placeOf'> & { readonly statement: Statement }>()

/** The one statement of a query. It is planned and printed once for all queries that differ in values alone. */
export function toStatement(query: RestrictedQuery, terms: Omit<PlanTerms, 'placeOf'>): Statement {
  const { storage, defaultLocale, shape } = terms
  const before = printed.get(query)
  if (before?.storage === storage && before.defaultLocale === defaultLocale && before.shape === shape)
    return before.statement
  const statement = fromTemplate(query, terms)
  printed.set(query, { storage, defaultLocale, shape, statement })
  return statement
}

function fromTemplate(query: RestrictedQuery, terms: Omit<PlanTerms, 'placeOf'>): Statement {
  const { key, values, placeOf } = outline(query, terms)
  const templates = templatesOf(terms.storage)
  const before = templates.get(key)
  if (before) return bind(before, values)
  const template = printTemplate(planQuery(query, { ...terms, placeOf }))
  templates.set(key, template)
  return bind(template, values)
}

function templatesOf(storage: Storage): Templates {
  const before = known.get(storage)
  if (before) return before
  const templates: Templates = new BoundedMap(BOUNDS, ({ text }) => text.length)
  known.set(storage, templates)
  return templates
}
