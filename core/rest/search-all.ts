import { subjectOf } from '../access/actions.ts'
import type { Caller } from '../access/caller.ts'
import { readablePaths } from '../access/compile/search-sets.ts'
import { restrict } from '../access/restrict/restrict.ts'
import type { Params } from '../actions/action-params.ts'
import { parseLocales } from '../actions/parameters/parse-version.ts'
import { didYouMean } from '../base/nearest.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import type { HttpRequest } from '../faults/http-exchange.ts'
import { apiIdOf, type ContentType } from '../model/model.ts'
import { searchFields } from '../model/search.ts'
import type { ExtensionRoute } from '../plugins/route-guard.ts'
import { parseTextSearch } from '../query/parse-text-search.ts'
import type { Query, RestrictedQuery } from '../query/query.ts'
import { answerJson, answerMethod } from './answer.ts'
import { type GeneratedResponder, wordsBelow } from './endpoint.ts'
import { requestParams } from './parse-query-string.ts'
import type { RestOptions } from './rest-call.ts'

interface SearchOptions extends RestOptions {
  /** The routes of extensions. */
  readonly routes: readonly ExtensionRoute[]
}

/**
 * `GET /search?q=`: the best matches of all content-types with `search:` in one statement (docs/search.md). A type is left out
 * if project code guards or replaces its list, because only that code knows what the list may show.
 */
export function openSearchAll(options: SearchOptions): GeneratedResponder {
  const declared = [...options.model.contentTypes.values()].filter(({ search }) => search !== null)
  const types = options.runMiddlewares ? [] : declared.filter(type => !isGuarded(type, options))
  return (request, acting) => {
    const words = wordsBelow(request.path, options.settings.prefix)
    if (declared.length === 0 || words?.length !== 1 || words[0]?.toLowerCase() !== 'search') return null
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return answerMethod(request.method, 'HEAD, GET')
    return answer(request, acting, { types, options })
  }
}

const isGuarded = (type: ContentType, { guards, routes }: SearchOptions): boolean =>
  guards?.get(subjectOf(type))?.get('find') !== undefined ||
  routes.some(({ replaces, path }) => replaces && path.toLowerCase() === `/${apiIdOf(type)}`.toLowerCase())

interface SearchContext {
  readonly types: readonly ContentType[]
  readonly options: SearchOptions
}

async function answer(request: HttpRequest, acting: Caller | undefined, { types, options }: SearchContext) {
  request.route = 'search.find'
  const caller = acting ?? (await options.identify(request.headers.authorization))
  request.identified = caller
  const params = requestParams(request)
  checkNames(params)
  const limit = parseLimit(params.limit, options)
  const readable = types.filter(type => isSearchable(type, caller))
  if (readable.length === 0)
    throw new RequestFault(fault('forbidden', 'There is no content-type that you may search'))
  const wanted = chooseTypes(params.types, readable)
  const queries = wanted.map(type => toQuery(type, { params, limit, caller, options }))
  const text = await options.documents.findAcross(queries, limit, { requestContext: request })
  return answerJson(`{"data":${text},"meta":{}}`, { request })
}

const NAMES = ['q', 'types', 'locale', 'limit']

function checkNames(params: Params): void {
  const unknown = Object.keys(params).find(name => !NAMES.includes(name))
  if (unknown === undefined) return
  const message = `Invalid parameter ${unknown}: expected ${NAMES.join(', ')}${didYouMean(unknown, NAMES)}`
  throw new RequestFault(fault('validation', message, { key: unknown }))
}

function parseLimit(raw: unknown, { settings: { defaultLimit, maxLimit } }: RestOptions): number {
  if (raw === undefined) return Math.min(defaultLimit, maxLimit)
  const limit = typeof raw === 'string' && /^\d{1,9}$/.test(raw) ? Number(raw) : 0
  if (limit >= 1) return Math.min(limit, maxLimit)
  throw new RequestFault(
    fault('validation', 'Invalid value for limit: expected a number from 1', { key: 'limit' }),
  )
}

/** The caller may list the type and read one of the searched attributes. */
export function isSearchable(type: ContentType, { grants }: Caller): boolean {
  const view = grants.allows(subjectOf(type), 'find') ? grants.readAccess(type, 'find') : null
  return view !== null && readablePaths(type, view.readable).length > 0
}

/** `types=article,page`. An unknown type and one that the caller may not search get the same answer. */
function chooseTypes(raw: unknown, types: readonly ContentType[]): readonly ContentType[] {
  if (raw === undefined) return types
  const known = types.map(({ key }) => key)
  const names = typeof raw === 'string' ? raw.split(',').map(name => name.trim()) : ['']
  return [...new Set(names)].map(name => {
    const type = types.find(({ key }) => key === name)
    if (type) return type
    const message = `Invalid value for types: expected ${known.join(', ')}${didYouMean(name, known)}`
    throw new RequestFault(fault('validation', message, { key: 'types' }))
  })
}

interface QueryOptions {
  readonly params: Params
  readonly limit: number
  readonly caller: Caller
  readonly options: SearchOptions
}

/** The list of published documents by relevance, with the texts of the highest weight. */
function toQuery(type: ContentType, { params, limit, caller, options }: QueryOptions): RestrictedQuery {
  const textSearch = parseTextSearch(type, { search: params.q ?? null }, 'q')
  if (!textSearch)
    throw new RequestFault(fault('validation', 'Invalid value for q: expected a text', { key: 'q' }))
  const fields = searchFields(type).flatMap(({ attribute, weight }) =>
    weight === 'A' && attribute.kind === 'scalar' ? [attribute] : [],
  )
  const query: Query = {
    ...{ kind: 'query', type, status: 'published', filter: null, search: null, publication: null, sort: [] },
    take: { kind: 'many', page: { start: 0, limit }, total: false },
    locale: parseLocales(type, { locale: params.locale }, { model: options.model, many: true }),
    selection: { fields, named: false, populate: [] },
    textSearch,
  }
  return restrict(query, caller, 'find')
}
