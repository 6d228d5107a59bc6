import { trusted } from '../access/brand.ts'
import type { PublicationTime } from '../actions/action-call.ts'
import type { Params } from '../actions/action-params.ts'
import { INTEGER } from '../base/integers.ts'
import { isRecord } from '../base/plain-data.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import { type HttpRequest, isSafeMethod } from '../faults/http-exchange.ts'
import { ALL_ROWS, requireScalar } from '../identity/users/user-values.ts'
import type { ContentType } from '../model/model.ts'
import type { RestSettings } from '../project/settings/settings.ts'
import { parseDateTime } from '../query/parse-moment.ts'
import type { Status, VersionChoice } from '../query/query.ts'
import { readBareBody, readData, requestParams } from './parse-query-string.ts'
import type { RestCall, RestOptions } from './rest-call.ts'
import { droppedFor, isMaintained, withoutUnknown } from './strapi4-body.ts'
import { fromStrapi4Populate } from './strapi4-populate.ts'

// Converts requests of Strapi 4 to those of Strapi 5, in a project with `rest.responseFormat: v4` or `v4-flat`
// (reference/rest.md#16-response-format-v4-and-query-parsing). The rest of the server handles Strapi 5 requests; only the
// format of the answers differs.

const HEADER = 'strapi-response-format'

/** True if the answer has the format of Strapi 4: the header selects it, or else the project's setting. */
export function isStrapi4Format({ headers }: Pick<HttpRequest, 'headers'>, settings: RestSettings): boolean {
  const named = headers[HEADER]
  return named === 'v4' || (named !== 'v5' && settings.responseFormat === 'v4')
}

/** True if the path, parameters and body have the format of Strapi 4. The header `v4` alone changes only the answer. */
export const isStrapi4Request = (
  { headers }: Pick<HttpRequest, 'headers'>,
  settings: RestSettings,
): boolean => settings.responseFormat !== 'v5' && headers[HEADER] !== 'v5'

/**
 * Converts the path, parameters and body of a call. An id without a row stays in the path, so that it passes the same checks
 * as the id of a hidden document and gets the same answer.
 */
export async function fromStrapi4(
  call: RestCall,
  options: Pick<RestOptions, 'documents' | 'settings'>,
): Promise<RestCall> {
  const { request, route } = call
  if (route.kind === 'localization') return fromLocalization(call, options)
  const row = await findAddressedRow(route, options)
  const params = toParams(requestParams(request), call, options)
  const body = isSave(request) && !route.change ? toBody(await readData(request), call) : null
  const { locale: _, ...others } = { ...params, ...body?.params }
  const query = {
    ...(row?.status === 'draft' && request.method === 'PUT' && { status: row.status }),
    // Strapi 4 answers a draft by its id without being asked for drafts.
    ...(row?.status === 'draft' && isSafeMethod(request.method) && { status: 'latest' }),
    // The row of the id selects the locale.
    ...(hasRowId(route) && route.type.localized ? others : { ...params, ...body?.params }),
    ...(row?.locale && { locale: row.locale }),
  }
  return {
    ...call,
    ...(row && { route: { ...route, documentId: row.documentId } }),
    publication: body?.publication,
    request: changeRequest(request, query, body?.bytes ?? null),
  }
}

/** Converts a request that creates a locale: the body is the values, without `data`, and the query parameters have no effect. */
async function fromLocalization(
  call: RestCall,
  options: Pick<RestOptions, 'documents' | 'settings'>,
): Promise<RestCall> {
  const { request, route } = call
  const { type } = route
  const row = await findAddressedRow(route, options)
  const data = await readBareBody(request)
  const { bytes, params, publication } = toBody(data, call)
  if (params.locale === undefined || params.locale === null || params.locale === '')
    throw new RequestFault(fault('application', 'locale is missing'))
  // Strapi 4 creates a draft unless the body says when it is published.
  const status = params.status ?? (type.draftAndPublish ? 'draft' : 'published')
  const query = { locale: params.locale, status, populate: 'localizations' }
  return {
    ...call,
    ...(row && { route: { ...route, documentId: row.documentId } }),
    publication,
    request: changeRequest(request, query, bytes),
  }
}

const ROW_ID = /^\d{1,20}$/

/** True if the path names a document by the id of a row, as in Strapi 4. */
const hasRowId = ({ documentId }: AddressedRoute): boolean => documentId !== null && ROW_ID.test(documentId)

type AddressedRoute = Pick<RestCall['route'], 'type' | 'documentId'>

/** The row that the id in the path names; undefined: there is no such row, or the path has no row id. */
async function findAddressedRow(
  route: AddressedRoute,
  options: Pick<RestOptions, 'documents'>,
): Promise<Row | undefined> {
  const id = Number(route.documentId)
  return hasRowId(route) && id <= INTEGER.most ? findRow(id, route.type, options) : undefined
}

const isSave = ({ method }: HttpRequest): boolean => method === 'POST' || method === 'PUT'

interface Row {
  /** `draft` only if the document is not published: Strapi 4 does not publish such a document when it is updated. */
  readonly status: Status
  readonly documentId: string
  readonly locale?: string | null
}

/** The document and the locale of a numeric id. It reveals nothing: the caller's permissions are applied afterwards. */
async function findRow(
  id: number,
  type: ContentType,
  options: Pick<RestOptions, 'documents'>,
): Promise<Row | undefined> {
  const published = await readRow({ type, status: 'published', key: 'id', value: id }, options)
  if (published || !type.draftAndPublish) return published
  const draft = await readRow({ type, status: 'draft', key: 'id', value: id }, options)
  if (!draft) return undefined
  const { documentId, locale } = draft
  const isPublished = await readRow(
    { type, status: 'published', key: 'documentId', value: documentId, locale },
    options,
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
  { documents }: Pick<RestOptions, 'documents'>,
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
  readonly publication: PublicationTime
}

/** Strapi 4 has the locale and `publishedAt` among the values. They become parameters; a time is stored, and kept without one. */
function toBody(
  data: Readonly<Record<string, unknown>>,
  { route: { type }, caller }: Pick<RestCall, 'route' | 'caller'>,
): Body {
  const { locale, publishedAt } = data
  const stamp = type.draftAndPublish && isMaintained('publishedAt', type) ? publishedAt : undefined
  const publishes = stamp === undefined ? null : parseStamp(stamp)
  const isLocale = locale !== undefined && type.localized
  return {
    publication: publishes === null ? { keepsPublishedAt: true } : { publishedAt: publishes },
    bytes: Buffer.from(JSON.stringify({ data: withoutUnknown(data, type, droppedFor(caller)) })),
    params: {
      ...(stamp !== undefined && { status: publishes === null ? 'draft' : 'published' }),
      ...(isLocale && { locale }),
    },
  }
}

/** A value that is neither must not decide that a draft is published. */
function parseStamp(publishedAt: unknown): string | null {
  if (publishedAt === null) return null
  const parsed = parseDateTime(publishedAt)
  if (parsed.ok) return parsed.value
  const expected = 'a timestamp, an ISO date or null'
  const details = { key: 'publishedAt', path: null, source: 'body', expected }
  throw new RequestFault(fault('validation', `Invalid value for publishedAt: expected ${expected}`, details))
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
  input: Params,
  { request, route }: Pick<RestCall, 'request' | 'route'>,
  { settings }: Pick<RestOptions, 'settings'>,
): Params {
  const { publicationState, ...params } = input
  const populate = fromStrapi4Populate(params.populate, route.type, settings)
  const status = publicationState === undefined ? undefined : toStatus(publicationState)
  return {
    ...params,
    // It selects the version of a read. In Strapi 4 a write changes the entry in any state.
    ...(status !== undefined && isSafeMethod(request.method) && params.status === undefined && { status }),
    ...(params.locale === 'all' && { locale: '*' }),
    ...(params.populate !== undefined && { populate }),
    ...(isRecord(params.pagination) && { pagination: toPagination(params.pagination, settings) }),
  }
}

/** `limit=-1` means the largest limit. */
const toPagination = (pagination: Params, { maxLimit }: RestSettings): Params =>
  pagination.limit === '-1' ? { ...pagination, limit: String(maxLimit) } : pagination

/** `publicationState`: in `preview` Strapi 4 answers one row per entry, also for entries that are not published. */
const PUBLICATION_STATES = { live: 'published', preview: 'latest' } as const satisfies Record<
  string,
  VersionChoice
>

function toStatus(state: unknown): VersionChoice {
  if (state === 'live' || state === 'preview') return PUBLICATION_STATES[state]
  const details = { key: 'publicationState', expected: Object.keys(PUBLICATION_STATES) }
  throw new RequestFault(
    fault('validation', 'Invalid value for publicationState: expected live or preview', details),
  )
}
