import { isDeepStrictEqual } from 'node:util'
import type { Caller, Grants } from '../access/caller.ts'
import { restrict } from '../access/restrict/restrict.ts'
import type { ActionCall, ActionResult, HttpAnswer, WriteTarget } from '../actions/action-call.ts'
import type { Params } from '../actions/action-params.ts'
import { deletedDocumentOf } from '../actions/delete-outcome.ts'
import { paginationKey, printPagination, splitCursor } from '../actions/parameters/parse-pagination.ts'
import {
  type ListQuery,
  parseListQuery,
  parseOneQuery,
  type QueryParseOptions,
} from '../actions/parameters/parse-query.ts'
import { type Performed, perform, toActionValue, toEnvelope } from '../actions/perform.ts'
import { isUnstorable } from '../actions/prepare-read.ts'
import { authorizeAnswer, parseTarget, type SaveAction, writeTarget } from '../actions/prepare-write.ts'
import { LruCache } from '../base/lru-cache.ts'
import { memoize } from '../base/memo.ts'
import { timePart } from '../base/request-context.ts'
import type { BodyFormat } from '../cache/answer-store.ts'
import { notFound, RequestFault } from '../faults/fault.ts'
import type { HttpRequest, HttpResponse } from '../faults/http-exchange.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { DocumentAction } from '../plugins/services/documents-api.ts'
import { toJsonBody } from '../plugins/services/shared-response.ts'
import type { RestSettings } from '../project/settings/settings.ts'
import type { Precondition } from '../query/command.ts'
import { countPopulates } from '../query/populate-nodes.ts'
import type { Query, RestrictedQuery } from '../query/query.ts'
import { answerBody, answerDocument, answerJson, ENVELOPE, envelope, responseShape } from './answer.ts'
import { refuseConditions } from './endpoint.ts'
import { parseQueryString, readData, requestParams } from './parse-query-string.ts'
import type { RestCall, RestOptions } from './rest-call.ts'
import { isStrapi4Request } from './strapi4.ts'

/**
 * Performs an action: request → call → action → envelope. The query is checked before the body is read
 * (reference/rest.md#2-errors, "Order of checks").
 */
export async function performAction(
  action: DocumentAction,
  call: RestCall,
  options: RestOptions,
): Promise<HttpResponse> {
  // What a POST creates has no tag to match, and actions such as `unpublish` compare none.
  refuseConditions(call.request, call.request.method === 'POST' ? undefined : ['If-None-Match'])
  const isSave = action === 'create' || action === 'update'
  // The cache of queries replaces the parameters of a save, unless middlewares want to see them.
  const params = isSave && !options.runMiddlewares ? documentParams(call) : toParams(call)
  const actionCall = toActionCall(action, params, call, options)
  if (action === 'delete') return answerDelete(await perform(actionCall, options), actionCall, call)
  if (!isSave) return answer(await perform(actionCall, options), action, call)
  const saving = isLocalization(call) ? 'createLocalization' : action
  const target = options.runMiddlewares
    ? writeTarget(saving, actionCall, options)
    : SAVE_TARGETS[saving](call, options)
  const data = await readData(call.request)
  const save = { ...actionCall, params: { ...params, data }, target }
  const performed = await perform(save, options)
  if (isLocalization(call)) return answerLocalization(performed, call)
  const response = answer(performed, action, call)
  // Strapi 4 answers 200 to a create.
  return isStrapi4Request(call.request, options.settings) ? { ...response, status: 200 } : response
}

const toActionCall = (
  action: DocumentAction,
  params: Params,
  call: RestCall,
  options: RestOptions,
): ActionCall => ({
  action,
  type: call.route.type,
  params,
  caller: call.caller,
  http: {
    shape: isLocalization(call) ? 'flat' : responseShape(call, options),
    taggedBody: ENVELOPE,
    requestContext: call.request,
    localizes: isLocalization(call),
    publication: call.publication,
    precondition: parsePrecondition(call.request.headers['if-match']),
    answersDelete: isStrapi4Request(call.request, options.settings),
    documentBody: DOCUMENT_BODY,
    listBody,
  },
})

const isLocalization = ({ route }: RestCall): boolean => route.kind === 'localization'

/** Strapi 4 answers a new locale without an envelope. */
function answerLocalization({ result, value }: Performed, call: RestCall): HttpResponse {
  if (result?.kind === 'missing' && !value) throw new RequestFault(notFound())
  const found = value === undefined && result ? toActionValue(result) : value
  return answerJson(JSON.stringify(found ?? null), call)
}

const documentParams = ({ route }: RestCall): Params =>
  route.documentId === null ? {} : { documentId: route.documentId }

/** Parameters in the form of the documents API, with REST's defaults. The path names the document, never the query. */
function toParams(call: RestCall): Params {
  // `status` without a value is null, which is refused.
  const { documentId: _, data: __, status = 'published', ...parameters } = requestParams(call.request)
  // Objects of a query string have no prototype; a clone gives middlewares plain objects.
  return structuredClone({ ...parameters, ...documentParams(call), status })
}

/** Finds the target of a save by the text of its query string. One cache per action: the permission that restricts the answer differs. */
const SAVE_TARGETS = {
  create: cachedTargets('create'),
  update: cachedTargets('update'),
  createLocalization: cachedTargets('createLocalization'),
}

function cachedTargets(action: SaveAction) {
  const find = cacheBySearch(parseTarget, ({ query }) => query)
  return ({ route, request, caller }: RestCall, options: RestOptions): WriteTarget => {
    const known = find(route.type, request, options)
    const { locale, status, query } = known.parsed
    const answer = restrictOnce(known, caller, () => authorizeAnswer(query, { caller }, action))
    return { locale, status, answer }
  }
}

/** The answer of the action if middlewares left it unchanged; else their value as JSON. */
function answer({ result, value }: Performed, action: DocumentAction, call: RestCall): HttpResponse {
  if (result && value === undefined) return answerResult(result, action, call)
  if (value === null && action !== 'create') throw new RequestFault(notFound())
  if (result && result.kind !== 'missing' && isDeepStrictEqual(value, toActionValue(result)))
    return answerResult(result, action, call)
  const meta = result?.kind === 'body' ? toEnvelope(result.body).meta : {}
  const body = toJsonBody({ data: value, meta }, `A document middleware of ${action}`)
  return answerJson(body, call, statusOf(action))
}

/** Only Strapi 4 answers the document that was deleted. */
function answerDelete({ result, value }: Performed, { http }: ActionCall, call: RestCall): HttpResponse {
  if (!http?.answersDelete) return { status: 204, body: null }
  if (result && value === undefined) return answerResult(result, 'delete', call)
  return answer({ result, value: deletedDocumentOf(value) }, 'delete', call)
}

function answerResult(result: ActionResult, action: DocumentAction, call: RestCall): HttpResponse {
  switch (result.kind) {
    case 'body':
      return answerBody(result.body, call)
    case 'document':
      return answerDocument(result.text, call, statusOf(action))
    case 'missing':
      throw new RequestFault(notFound())
    case 'value':
      return answerJson(JSON.stringify({ data: result.value, meta: {} }), call)
  }
}

/** PUT answers 200 even if it creates a single type's document. */
const statusOf = (action: DocumentAction): number => (action === 'create' ? 201 : 200)

/**
 * `If-Match` (RFC 9110, 13.1.1); null without the header. Weak tags never match and are dropped. A malformed header
 * yields no tags, so the precondition fails and nothing is written.
 */
export function parsePrecondition(header: string | undefined): Precondition | null {
  if (header === undefined) return null
  if (header.trim() === '*') return { tags: ['*'] }
  if (!/^[\s,]*$/.test(header.replaceAll(TAG, ''))) return { tags: [] }
  const strong = [...header.matchAll(TAG)].filter(([tag]) => !tag.startsWith('W/'))
  return { tags: strong.map(([, tag = '']) => tag).filter(tag => tag !== '*') }
}

const TAG = /(?:W\/)?"([^"]*)"/g

/** A list with `meta.pagination` (reference/rest.md#1-envelope-and-status-codes, reference/rest.md#5-pagination). */
export async function getList(call: RestCall, options: RestOptions): Promise<HttpResponse> {
  const { route, request } = call
  const known = timePart(request, 'parse', () => parseListSearch(route.type, request, options))
  const query = restrictCached(known, known.parsed.query, call)
  const body = { ...listBody(query, known.parsed.pagination), query, shape: responseShape(call, options) }
  const found = await options.documents.findBody(body, { requestContext: request, prefetch: call.prefetch })
  if (found === null) throw new RequestFault(notFound())
  return answerBody(found, call)
}

/** One document, or the only one of a single type. */
export async function getDocument(call: RestCall, options: RestOptions): Promise<HttpResponse> {
  const { route, request } = call
  const { type, documentId } = route
  const known = timePart(request, 'parse', () => parseOneSearch(type, request, options))
  const query = restrictCached(known, known.parsed, call)
  if (isUnstorable(documentId)) throw new RequestFault(notFound())
  const body = { ...DOCUMENT_BODY, query, shape: responseShape(call, options) }
  const found = await options.documents.findBody(body, {
    requestContext: request,
    prefetch: call.prefetch,
    ...(documentId !== null && { documentId }),
  })
  if (found === null) throw new RequestFault(notFound())
  return answerBody(found, call)
}

const restrictCached = (
  known: Pick<CachedQuery<unknown>, 'restricted'>,
  query: Query,
  { request, caller }: RestCall,
): RestrictedQuery =>
  timePart(request, 'narrow', () => restrictOnce(known, caller, () => restrict(query, caller)))

const listBody: HttpAnswer['listBody'] = ({ type, sort }, pagination) => ({
  formatKey: paginationKey(pagination),
  print({ text, total }) {
    const { documents, next } =
      pagination.form === 'cursor' && text !== null
        ? splitCursor(text, type, sort)
        : { documents: text ?? '[]', next: null }
    return `{"data":${documents},"meta":{"pagination":${printPagination(pagination, total, next)}}}`
  },
})

const DOCUMENT_BODY: BodyFormat = {
  formatKey: 'one',
  print: ({ text }) => (text === null ? null : envelope(text)),
}

/** A parsed query string, with its restricted query for each set of grants. */
interface CachedQuery<Parsed> {
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

type Parse<Parsed> = (type: ContentType, parameters: Params, options: QueryParseOptions) => Parsed

type Find<Parsed> = (
  type: ContentType,
  request: Pick<HttpRequest, 'search' | 'query'>,
  options: QueryParseOptions,
) => CachedQuery<Parsed>

/** Parses the query string of a list. */
export const parseListSearch: Find<ListQuery> = cacheBySearch(parseListQuery, ({ query }) => query)

/** Parses the query string of one document; of a single type, its only one. */
export const parseOneSearch: Find<Query> = cacheBySearch(
  (type, parameters, options) =>
    parseOneQuery(type, type.kind === 'single' ? null : ANY_DOCUMENT, parameters, options),
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
function cacheBySearch<Parsed>(parse: Parse<Parsed>, queryOf: (parsed: Parsed) => Query): Find<Parsed> {
  /** Entries live as long as their model. The key contains the content-type's uid. */
  const cachesOf = memoize((_: Model) =>
    memoize((_: RestSettings): Cache<Parsed> => new LruCache(BOUNDS, ({ size }) => size)),
  )
  return (type, request, options) => {
    const cache = cachesOf(options.model)(options.settings)
    const written = request.query && requestParams(request)
    const text = written ? JSON.stringify(written) : request.search
    const key = `${type.uid}${written ? '!' : '?'}${text}`
    const cached = cache.get(key)
    if (cached) return cached
    const parsed = parse(type, written ?? parseQueryString(text), options)
    const entry = {
      parsed,
      restricted: new WeakMap(),
      size: estimateSize(text, queryOf(parsed)),
    }
    cache.set(key, entry)
    return entry
  }
}
