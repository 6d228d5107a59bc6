import type { Caller, Grants } from '../access/caller.ts'
import {
  type ListQuery,
  parseListQuery,
  parseOneQuery,
  type QueryParseTerms,
} from '../actions/parameters/parse-query.ts'
import type { Params } from '../actions/params.ts'
import { LruCache } from '../base/lru-cache.ts'
import { memoize } from '../base/memo.ts'
import type { HttpRequest } from '../faults/http-exchange.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { RestSettings } from '../project/settings/settings.ts'
import { countPopulates } from '../query/populate-nodes.ts'
import type { Query, RestrictedQuery } from '../query/query.ts'
import { parseQueryString, requestParams } from './parse-query-string.ts'

/** A parsed query string, with its restricted query for each set of grants. */
export interface CachedQuery<Parsed> {
  readonly parsed: Parsed
  readonly restricted: WeakMap<Grants, RestrictedQuery>
  /** Estimated bytes of memory, derived data included. */
  readonly size: number
}

const BOUNDS = { entries: 2000, bytes: 4_000_000 } as const

/** Estimated bytes of a parsed query and its derived data: about twenty times its text, plus its populates. */
const estimateSize = (text: string, query: Query): number =>
  3000 + 20 * text.length + 500 * countPopulates(query.selection)

/** Placeholder for the documentId: permissions do not depend on it, so all documents of a type share one entry. */
const ANY_DOCUMENT = ''

type Parse<Parsed> = (type: ContentType, parameters: Params, terms: QueryParseTerms) => Parsed

type Find<Parsed> = (
  type: ContentType,
  request: Pick<HttpRequest, 'search' | 'query'>,
  terms: QueryParseTerms,
) => CachedQuery<Parsed>

/** Parses the query string of a list. */
export const parseListSearch: Find<ListQuery> = cacheBySearch(parseListQuery, ({ query }) => query)

/** Parses the query string of one document; of a single type, its only one. */
export const parseOneSearch: Find<Query> = cacheBySearch(
  (type, parameters, terms) =>
    parseOneQuery(type, type.kind === 'single' ? null : ANY_DOCUMENT, parameters, terms),
  query => query,
)

/** Restricts once per set of grants. Not cached for users: conditions may refer to the user's own values. */
export function restrictOnce(
  { restricted: known }: Pick<CachedQuery<unknown>, 'restricted'>,
  { user, grants }: Caller,
  restrict: () => RestrictedQuery,
): RestrictedQuery {
  if (user !== null) return restrict()
  const cached = known.get(grants)
  if (cached) return cached
  const restricted = restrict()
  known.set(grants, restricted)
  return restricted
}

type Cache<Parsed> = LruCache<CachedQuery<Parsed>>

/** Caches the parse result of a query string. Refusals are not cached. */
export function cacheBySearch<Parsed>(
  parse: Parse<Parsed>,
  queryOf: (parsed: Parsed) => Query,
): Find<Parsed> {
  /** Entries live as long as their model. The key contains the content-type's uid. */
  const cachesOf = memoize((_: Model) =>
    memoize((_: RestSettings): Cache<Parsed> => new LruCache(BOUNDS, ({ size }) => size)),
  )
  return (type, request, terms) => {
    const cache = cachesOf(terms.model)(terms.settings)
    const written = request.query && requestParams(request)
    const text = written ? JSON.stringify(written) : request.search
    const key = `${type.uid}${written ? '!' : '?'}${text}`
    const cached = cache.get(key)
    if (cached) return cached
    const parsed = parse(type, written ?? parseQueryString(text), terms)
    const entry = {
      parsed,
      restricted: new WeakMap(),
      size: estimateSize(text, queryOf(parsed)),
    }
    cache.set(key, entry)
    return entry
  }
}
