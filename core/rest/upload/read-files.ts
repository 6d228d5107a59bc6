import type { Action } from '../../access/actions.ts'
import type { Caller } from '../../access/caller.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { parseFields } from '../../actions/parameters/parse-fields.ts'
import { parseTopPage } from '../../actions/parameters/parse-pagination.ts'
import { parseSharedQuery } from '../../actions/parameters/parse-query.ts'
import type { Params } from '../../actions/params.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import type { HttpRequest, HttpResponse } from '../../faults/http-exchange.ts'
import type { Files } from '../../media/files.ts'
import type { ContentType, MediaAttribute, ScalarAttribute } from '../../model/model.ts'
import type { Comparison, Filter, Query, Value } from '../../query/query.ts'
import { answerJson } from '../answer.ts'
import { parseRowId } from '../endpoint.ts'
import { requestParams } from '../parse-query-string.ts'
import type { RestTerms } from '../rest-call.ts'

/** A list without an envelope (reference/rest.md#15-upload): pages by the top-level `start` and `limit`, not `pagination`. */
export async function getFiles(call: UploadCall, terms: UploadTerms): Promise<HttpResponse> {
  const parameters = requestParams(call.request)
  const shared = parseSharedQuery(terms.model.builtIn.file, parameters, terms)
  const page = parseTopPage(parameters, terms.settings.maxLimit)
  const take = { kind: 'many', page, total: false } as const
  const restricted = restrict({ ...shared, take, locale: { kind: 'all' } }, call.caller)
  const { text } = await terms.documents.findMany(restricted, 'flat')
  return answerJson(JSON.stringify(withSignedFlag(text)), call)
}

/** One file with all its fields: `fields` is ignored. */
export async function getFile(id: string, call: UploadCall, terms: UploadTerms): Promise<HttpResponse> {
  const { fields: _, ...query } = requestParams(call.request)
  const number = parseRowId(id)
  const { parameters, related } = splitRelated(query)
  const wanted: FileQuery = { parameters, attribute: 'id', values: [number], action: 'findOne' }
  const [file] = await readFiles(wanted, call, terms)
  if (!file) throw noFile()
  const relations = related ? { related: await findRelated(number, call, terms) } : {}
  return answerJson(JSON.stringify({ ...file, ...relations }), call)
}

export interface FileQuery {
  /** The request's other query parameters. */
  readonly parameters?: Params
  readonly attribute: 'id' | 'documentId'
  readonly values: readonly Value[]
  /** The action whose permission the caller needs. */
  readonly action: Action
}

/** File records in the form of answers, ordered by id. */
export async function readFiles(
  { parameters = {}, attribute, values, action }: FileQuery,
  call: UploadCall,
  terms: UploadTerms,
): Promise<readonly object[]> {
  const { file } = terms.model.builtIn
  const shared = parseSharedQuery(file, parameters, terms)
  const id = file.attributes.get(attribute)
  if (id?.kind !== 'scalar') throw new TypeError(`files have no ${attribute}`)
  const filters = [oneOf(id, values), ...(shared.filter ? [shared.filter] : [])]
  const query: Query = {
    ...shared,
    filter: { kind: 'and', filters },
    take: { kind: 'many', page: { start: 0, limit: values.length }, total: false },
    locale: { kind: 'all' },
  }
  const restricted = restrict(query, call.caller, action)
  const { text } = await terms.documents.findMany(restricted, 'flat')
  return withSignedFlag(text)
}

const oneOf = (attribute: ScalarAttribute, values: readonly Value[]): Comparison => ({
  kind: 'comparison',
  attribute,
  operator: '$in',
  values,
})

/** URLs are public and not signed; Strapi sets this flag in every record. */
function withSignedFlag(text: string): readonly object[] {
  const files: unknown = JSON.parse(text)
  return Array.isArray(files) ? files.map((file: object) => ({ ...file, isUrlSigned: false })) : []
}

/** Splits `populate=related` off the parameters: `related` is not an attribute of files. */
function splitRelated(parameters: Params): {
  readonly parameters: Params
  readonly related: boolean
} {
  const { populate, ...rest } = parameters
  const only = Array.isArray(populate) && populate.length === 1 ? populate[0] : populate
  if (only === 'related') return { parameters: rest, related: true }
  return { parameters, related: populate === '*' }
}

/**
 * Published documents with a file in one of their own media attributes, restricted to what the caller may read. One
 * statement and at most one page for each content-type with such attributes.
 */
async function findRelated(
  fileId: number,
  call: UploadCall,
  terms: UploadTerms,
): Promise<readonly unknown[]> {
  const found: unknown[] = []
  for (const type of terms.model.contentTypes.values()) {
    const query = relatedQuery(fileId, type, { call, terms })
    const restricted = query && restrict(query, call.caller)
    if (!restricted) continue
    const { text } = await terms.documents.findMany(restricted, 'flat')
    const documents: unknown = JSON.parse(text)
    if (Array.isArray(documents))
      found.push(...documents.map((document: object) => ({ __type: type.uid, ...document })))
  }
  return found
}

interface RelatedContext {
  readonly call: UploadCall
  readonly terms: UploadTerms
}

/** null: the caller may read no media attribute of this type. */
function relatedQuery(fileId: number, type: ContentType, { call, terms }: RelatedContext): Query | null {
  const view = call.caller.grants.readAccess(type, 'find')
  const filters = [...type.attributes.values()].flatMap(attribute =>
    attribute.kind === 'media' && view?.readable.has(attribute) ? [holdsFile(attribute, fileId)] : [],
  )
  const fields = parseFields(undefined, type)
  if (filters.length === 0) return null
  return {
    kind: 'query',
    type,
    take: { kind: 'many', page: { start: 0, limit: terms.settings.maxLimit }, total: false },
    status: 'published',
    locale: { kind: 'all' },
    selection: { ...fields, populate: [] },
    filter: { kind: 'or', filters },
    search: null,
    publication: null,
    sort: [],
  }
}

function holdsFile(attribute: MediaAttribute, fileId: number): Filter {
  const id = attribute.target.attributes.get('id')
  if (id?.kind !== 'scalar') throw new TypeError('files have no id')
  const filter: Filter = { kind: 'comparison', attribute: id, operator: '$eq', values: [fileId] }
  return { kind: 'related', attribute, scope: null, filter }
}

export interface UploadTerms extends RestTerms {
  readonly files: Files
}

/** One request by a caller who may do what it asks. */
export interface UploadCall {
  readonly request: HttpRequest
  readonly caller: Caller
}

export const noFile = (): RequestFault => new RequestFault(fault('notFound', 'file.notFound'))
