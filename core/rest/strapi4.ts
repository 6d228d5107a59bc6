import { trusted } from '../access/brand.ts'
import type { Params } from '../actions/action-params.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import { type HttpRequest, isSafeMethod } from '../faults/http-exchange.ts'
import { ALL_ROWS, requireScalar } from '../identity/users/user-values.ts'
import type { ContentType } from '../model/model.ts'
import type { RestSettings } from '../project/settings/settings.ts'
import { isRecord } from '../query/parse-place.ts'
import type { Status, VersionChoice } from '../query/query.ts'
import { readBareBody, readData, requestParams } from './parse-query-string.ts'
import type { RestCall, RestTerms } from './rest-call.ts'
import { droppedFor, isMaintained, withoutUnknown } from './strapi4-body.ts'
import { fromStrapi4Populate } from './strapi4-populate.ts'

// Requests of Strapi 4 in the terms of Strapi 5, in a project with `rest.responseFormat: v4` or `v4-flat`
// (reference/rest.md#16-response-format-v4-and-query-parsing). What follows sees Strapi 5 alone; only the shape of answers differs.

const HEADER = 'strapi-response-format'

/** The header names the format of a request's answer; without it, or with another value, the project does. */
export function isStrapi4Format({ headers }: Pick<HttpRequest, 'headers'>, settings: RestSettings): boolean {
  const named = headers[HEADER]
  return named === 'v4' || (named !== 'v5' && settings.responseFormat === 'v4')
}

/** True for requests whose addresses, parameters and bodies are those of Strapi 4: the header alone changes answers only. */
export const isStrapi4Request = (
  { headers }: Pick<HttpRequest, 'headers'>,
  settings: RestSettings,
): boolean => settings.responseFormat !== 'v5' && headers[HEADER] !== 'v5'

/** An id without a row passes the same checks as that of a hidden document, so no answer tells the two apart. */
export async function fromStrapi4(
  call: RestCall,
  terms: Pick<RestTerms, 'documents' | 'settings'>,
): Promise<RestCall> {
  const { request, route } = call
  if (route.kind === 'localization') return fromLocalization(call, terms)
  const isAddressed = route.documentId !== null && ROW_ID.test(route.documentId)
  const id = isAddressed ? Number(route.documentId) : LAST_ID + 1
  const row = id <= LAST_ID ? await findRow(id, route.type, terms) : undefined
  const params = toParams(requestParams(request), call, terms)
  const body = isSave(request) ? toBody(await readData(request), call) : null
  const { locale: _, ...others } = { ...params, ...body?.params }
  const query = {
    ...(row?.status === 'draft' && request.method === 'PUT' && { status: row.status }),
    // Strapi 4 answers a draft by its id without being asked for drafts.
    ...(row?.status === 'draft' && isSafeMethod(request.method) && { status: 'latest' }),
    // The row of the id selects the locale.
    ...(isAddressed && route.type.localized ? others : { ...params, ...body?.params }),
    ...(row?.locale && { locale: row.locale }),
  }
  return {
    ...call,
    ...(row && { route: { ...route, documentId: row.documentId } }),
    request: changeRequest(request, query, body?.bytes ?? null),
  }
}

/** A new locale: the values are the body, not its `data`, and the parameters of the request have no effect. */
async function fromLocalization(
  call: RestCall,
  terms: Pick<RestTerms, 'documents' | 'settings'>,
): Promise<RestCall> {
  const { request, route } = call
  const { type, documentId } = route
  const id = documentId !== null && ROW_ID.test(documentId) ? Number(documentId) : LAST_ID + 1
  const row = id <= LAST_ID ? await findRow(id, type, terms) : undefined
  const data = await readBareBody(request)
  const { bytes, params } = toBody(data, call)
  if (params.locale === undefined || params.locale === null || params.locale === '')
    throw new RequestFault(fault('application', 'locale is missing'))
  // Strapi 4 creates a draft unless the body says when it is published.
  const status = type.draftAndPublish && typeof data.publishedAt !== 'string' ? 'draft' : 'published'
  const query = { locale: params.locale, status, populate: 'localizations' }
  return {
    ...call,
    ...(row && { route: { ...route, documentId: row.documentId } }),
    request: changeRequest(request, query, bytes),
  }
}

const ROW_ID = /^\d{1,20}$/

/** The largest id that PostgreSQL's integer can hold. */
const LAST_ID = 2_147_483_647

const isSave = ({ method }: HttpRequest): boolean => method === 'POST' || method === 'PUT'

interface Row {
  /** A document that is not published is its draft: Strapi 4 does not publish it when it changes. */
  readonly status: Status
  readonly documentId: string
  readonly locale?: string | null
}

/** The document and the locale of a numeric id. It reveals nothing: the caller's permissions are applied afterwards. */
async function findRow(
  id: number,
  type: ContentType,
  terms: Pick<RestTerms, 'documents'>,
): Promise<Row | undefined> {
  const published = await readRow({ type, status: 'published', key: 'id', value: id }, terms)
  if (published || !type.draftAndPublish) return published
  const draft = await readRow({ type, status: 'draft', key: 'id', value: id }, terms)
  if (!draft) return undefined
  const { documentId, locale } = draft
  const isPublished = await readRow(
    { type, status: 'published', key: 'documentId', value: documentId, locale },
    terms,
  )
  return isPublished ? { ...draft, status: 'published' } : draft
}

interface RowSearch {
  readonly type: ContentType
  readonly status: Status
  readonly key: 'id' | 'documentId'
  readonly value: number | string
  readonly locale?: string | null | undefined
}

async function readRow(
  { type, status, key, value, locale }: RowSearch,
  { documents }: Pick<RestTerms, 'documents'>,
): Promise<Row | undefined> {
  const names = type.localized ? ['documentId', 'locale'] : ['documentId']
  const query = trusted({
    ...ALL_ROWS,
    ...(locale && { locale: { kind: 'these', codes: [locale] } as const }),
    type,
    status,
    take: { kind: 'many', page: { start: 0, limit: 1 }, total: false },
    selection: { fields: names.map(name => requireScalar(type, name)), named: true, populate: [] },
    filter: { kind: 'comparison', attribute: requireScalar(type, key), operator: '$eq', values: [value] },
  })
  const [found] = JSON.parse((await documents.findMany(query, 'flat')).text) as readonly Omit<Row, 'status'>[]
  return found && { ...found, status }
}

interface Body {
  readonly bytes: Buffer
  readonly params: Params
}

/** Strapi 4 takes the locale and the publication state with the values. */
function toBody(
  data: Readonly<Record<string, unknown>>,
  { route: { type }, caller }: Pick<RestCall, 'route' | 'caller'>,
): Body {
  const { locale, publishedAt } = data
  const stamp = type.draftAndPublish && isMaintained('publishedAt', type) ? publishedAt : undefined
  const isLocale = locale !== undefined && type.localized
  return {
    bytes: Buffer.from(JSON.stringify({ data: withoutUnknown(data, type, droppedFor(caller)) })),
    params: {
      ...(stamp !== undefined && { status: stamp === null ? 'draft' : 'published' }),
      ...(isLocale && { locale }),
    },
  }
}

/** The request with other parameters, and another body if `bytes` is not null. */
export function changeRequest(request: HttpRequest, query: Params, bytes: Buffer | null): HttpRequest {
  const { id, method, path, search, peer, timing = null, origin } = request
  const headers = bytes ? { ...request.headers, 'content-type': 'application/json' } : request.headers
  return {
    ...{ id, method, path, search, headers, peer, timing, origin, query },
    ...(request.writes && { writes: request.writes }),
    body: () => (bytes ? Promise.resolve(bytes) : request.body()),
    stream: () => request.stream(),
  }
}

function toParams(
  given: Params,
  { request, route }: Pick<RestCall, 'request' | 'route'>,
  { settings }: Pick<RestTerms, 'settings'>,
): Params {
  const { publicationState, ...params } = given
  const populate = fromStrapi4Populate(params.populate, route.type, settings)
  const status = publicationState === undefined ? undefined : toStatus(publicationState)
  return {
    ...params,
    // It selects what is read. In Strapi 4 a write changes the entry, whatever its state is.
    ...(status !== undefined && isSafeMethod(request.method) && params.status === undefined && { status }),
    ...(params.locale === 'all' && { locale: '*' }),
    ...(params.populate !== undefined && { populate }),
    ...(isRecord(params.pagination) && { pagination: toPagination(params.pagination, settings) }),
  }
}

/** `limit=-1` is as much as one list may have. */
const toPagination = (pagination: Params, { maxLimit }: RestSettings): Params =>
  pagination.limit === '-1' ? { ...pagination, limit: String(maxLimit) } : pagination

/** Strapi 4 has one row for an entry: the published version, or the draft if there is none. */
const STATES = { live: 'published', preview: 'latest' } as const satisfies Record<string, VersionChoice>

function toStatus(state: unknown): VersionChoice {
  if (state === 'live' || state === 'preview') return STATES[state]
  const details = { key: 'publicationState', expected: Object.keys(STATES) }
  throw new RequestFault(
    fault('validation', 'Invalid value for publicationState: expected live or preview', details),
  )
}
