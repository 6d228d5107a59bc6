import type { Caller, Grants } from '../access/caller.ts'
import { BoundedMap } from '../base/lru-cache.ts'
import { ok, type Result } from '../base/result.ts'
import type { Fault } from '../faults/fault.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { RestSettings } from '../project/settings/settings.ts'
import { countPopulates } from '../query/count-populates.ts'
import type { Query, RestrictedQuery } from '../query/query.ts'
import { type ListQuery, parseListQuery, parseOneQuery, type QueryTerms } from './parameters/parse-query.ts'
import { type Parameters, parseQueryString } from './parse-query-string.ts'

/** What a query string asks for, and what of it each kind of caller sees. */
export interface Known<Parsed> {
  readonly parsed: Parsed
  readonly seen: WeakMap<Grants, Result<RestrictedQuery, Fault>>
  /** Bytes of memory, with all that is made of it. */
  readonly size: number
}

const BOUNDS = { entries: 2000, bytes: 4_000_000 } as const

/** Bytes of a parsed query, and of what is made of it: some twenty times its text, and what `populate=*` stands for. */
const sizeOf = (text: string, query: Query): number =>
  3000 + 20 * text.length + 500 * countPopulates(query.selection)

/** Stands for the document that is asked for: which one it is makes no difference to what its caller may see of it. */
const ANY_DOCUMENT = ''

type Parse<Parsed> = (type: ContentType, parameters: Parameters, terms: QueryTerms) => Result<Parsed, Fault>

type Find<Parsed> = (type: ContentType, text: string, terms: QueryTerms) => Result<Known<Parsed>, Fault>

/** The list that a query string asks for. */
export const parseListText: Find<ListQuery> = rememberByText(parseListQuery, ({ query }) => query)

/** Any one document as a query string asks for it; a single type's only one. */
export const parseOneText: Find<Query> = rememberByText(
  (type, parameters, terms) =>
    parseOneQuery(type, type.kind === 'single' ? null : ANY_DOCUMENT, parameters, terms),
  query => query,
)

/** `see` is done once for all who have the same grants; anew for users, whose own values conditions may speak of. */
export function seeKnown(
  { seen }: Pick<Known<unknown>, 'seen'>,
  { user, grants }: Caller,
  see: () => Result<RestrictedQuery, Fault>,
): Result<RestrictedQuery, Fault> {
  if (user !== null) return see()
  const before = seen.get(grants)
  if (before) return before
  const restricted = see()
  seen.set(grants, restricted)
  return restricted
}

type Texts<Parsed> = BoundedMap<Known<Parsed>>

/** Parses the same text once. What is refused is parsed each time. */
export function rememberByText<Parsed>(
  parse: Parse<Parsed>,
  queryOf: (parsed: Parsed) => Query,
): Find<Parsed> {
  /** As long as their project is there. Its content-types are told apart by their uids. */
  const known = new WeakMap<Model, WeakMap<RestSettings, Texts<Parsed>>>()
  const textsOf = ({ model, settings }: QueryTerms): Texts<Parsed> => {
    const bySettings = known.get(model) ?? new WeakMap<RestSettings, Texts<Parsed>>()
    known.set(model, bySettings)
    const texts: Texts<Parsed> = bySettings.get(settings) ?? new BoundedMap(BOUNDS, ({ size }) => size)
    bySettings.set(settings, texts)
    return texts
  }
  return (type, text, terms) => {
    const texts = textsOf(terms)
    const key = `${type.uid}?${text}`
    const before = texts.get(key)
    if (before) return ok(before)
    const parameters = parseQueryString(text)
    if (!parameters.ok) return parameters
    const parsed = parse(type, parameters.value, terms)
    if (!parsed.ok) return parsed
    const made = { parsed: parsed.value, seen: new WeakMap(), size: sizeOf(text, queryOf(parsed.value)) }
    texts.set(key, made)
    return ok(made)
  }
}
