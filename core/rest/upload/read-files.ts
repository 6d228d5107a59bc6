import type { Action } from '../../access/actions.ts'
import type { Caller } from '../../access/caller.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { parseTopPage } from '../../actions/parameters/parse-pagination.ts'
import { parseSharedQuery } from '../../actions/parameters/parse-query.ts'
import type { Params } from '../../actions/params.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import type { HttpRequest, HttpResponse } from '../../faults/http-exchange.ts'
import type { Files } from '../../media/files.ts'
import type { ScalarAttribute } from '../../model/model.ts'
import type { Comparison, Query, Value } from '../../query/query.ts'
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
  const { fields: _, ...parameters } = requestParams(call.request)
  const wanted: FileQuery = { parameters, attribute: 'id', values: [parseRowId(id)], action: 'findOne' }
  const [file] = await readFiles(wanted, call, terms)
  if (!file) throw noFile()
  return answerJson(JSON.stringify(file), call)
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

export interface UploadTerms extends RestTerms {
  readonly files: Files
}

/** One request by a caller who may do what it asks. */
export interface UploadCall {
  readonly request: HttpRequest
  readonly caller: Caller
}

export const noFile = (): RequestFault => new RequestFault(fault('notFound', 'file.notFound'))
