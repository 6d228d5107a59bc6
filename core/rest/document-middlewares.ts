import { isDeepStrictEqual } from 'node:util'
import { once } from '../base/memo.ts'
import { failed, ok } from '../base/result.ts'
import type { Documents } from '../documents/documents.ts'
import { toPluginError } from '../faults/errors.ts'
import { FAULTS, type Fault, type FaultCode, fault, notFound } from '../faults/fault.ts'
import { type HttpResponse, toFaultResponse } from '../faults/http-exchange.ts'
import type { DocumentAction, RunDocumentMiddlewares } from '../plugins/services/documents-api.ts'
import { isRecord } from '../query/parse-place.ts'
import { answerJson, answerRefusal } from './answer.ts'
import { badCursor } from './parameters/parse-pagination.ts'
import { readData } from './parse-body.ts'
import { parseQueryString } from './parse-query-string.ts'
import type { RestCall, RestInput, RestTerms } from './rest-call.ts'

/** Performs one action of a call. */
export type RestHandler = (call: RestCall, terms: RestTerms) => Promise<HttpResponse>

export interface MiddlewareTerms {
  readonly action: DocumentAction
  readonly handler: RestHandler
  readonly around: RunDocumentMiddlewares
  readonly terms: RestTerms
}

/**
 * Runs a handler inside the document middlewares. The request is validated and authorized before they run. They get
 * the answer as a value; it is serialized again only if they changed it.
 */
export async function performWithMiddlewares(
  call: RestCall,
  { action, handler, around, terms }: MiddlewareTerms,
): Promise<HttpResponse> {
  const parameters = parseQueryString(call.request.search)
  if (!parameters.ok) return answerRefusal(parameters)
  const body = once(() => readData(call.request))
  const original: RestCall = { ...call, input: { parameters: parameters.value, data: body, original: null } }
  const checked = await handler(original, { ...terms, documents: NO_OP_DOCUMENTS })
  if (checked.status >= 400) return checked
  const data = ACTIONS_WITH_DATA.has(action) ? await body() : ok({})
  if (!data.ok) return answerRefusal(data)
  // Objects of a query string have no prototype; a clone gives middlewares plain objects.
  const params = structuredClone(
    paramsOf(call, parameters.value, ACTIONS_WITH_DATA.has(action) ? { data: data.value } : {}),
  )
  const run = async (changed: Params): Promise<HttpResponse> => {
    if (isDeepStrictEqual(changed, params)) return handler(original, terms)
    if (changesCursorOrder(changed, params)) return answerRefusal(failed(badCursor(NO_CURSORS_HERE)))
    return handler(withParams(call, changed, data.value), terms)
  }
  let last: HttpResponse | null = null
  const value = await around({
    type: call.route.type,
    action,
    params,
    async perform(changed) {
      last = await run(changed)
      return toResult(last, action, changed)
    },
  })
  return toAnswer(value, last, { call, action })
}

type Params = Readonly<Record<string, unknown>>

/** A cursor holds the sort values of a row. Values of a sort that a middleware chose may be hidden from the caller. */
const changesCursorOrder = ({ sort, pagination }: Params, original: Params): boolean =>
  isRecord(pagination) && pagination.after !== undefined && !isDeepStrictEqual(sort, original.sort)

const NO_CURSORS_HERE = 'code of the project puts this list into an order of its own, which has no cursors'

const ACTIONS_WITH_DATA: ReadonlySet<DocumentAction> = new Set<DocumentAction>(['create', 'update'])

/** Does nothing: a handler with this service performs only the checks that need no database. */
const NO_OP_DOCUMENTS: Documents = {
  findMany: async () => ({ text: '[]', total: 0 }),
  findOne: async () => 'null',
  findBody: async () => 'null',
  create: async () => ok({ documentId: '', text: 'null' }),
  update: async () => ok({ documentId: '', text: 'null' }),
  amend: async () => ok({ documentId: '', text: 'null' }),
  delete: async () => ok(null),
  publish: async () => ok({ documentId: '', texts: [] }),
  unpublish: async () => ok({ documentId: '', texts: [] }),
  discardDraft: async () => ok({ documentId: '', texts: [] }),
}

/** Parameters in the form of the documents API, with REST's defaults filled in. */
function paramsOf(
  { route }: RestCall,
  parameters: RestInput['parameters'],
  data: object,
): Record<string, unknown> {
  const status = parameters.status ?? 'published'
  const document = route.documentId === null ? {} : { documentId: route.documentId }
  return { ...document, ...parameters, status, ...data }
}

/** The call with changed parameters in place of the request's. */
function withParams(
  call: RestCall,
  changed: Readonly<Record<string, unknown>>,
  original: Readonly<Record<string, unknown>>,
): RestCall {
  const { documentId = null, data, ...parameters } = changed
  return {
    ...call,
    route: { ...call.route, documentId: documentId === null ? null : String(documentId) },
    input: {
      parameters,
      data: async () => (isRecord(data) ? ok(data) : failed(noData())),
      original: { data: original },
    },
  }
}

const noData = (): Fault => fault('validation', 'data must be an object of attributes', { key: 'data' })

/** The action's result as the documents API gives it; throws the fault of a refusal. */
function toResult(
  answer: HttpResponse,
  action: DocumentAction,
  { documentId }: Readonly<Record<string, unknown>>,
): unknown {
  if (answer.status === 404 && action !== 'delete') return null
  if (answer.status >= 400) throw toPluginError(faultOf(answer))
  return action === 'delete' ? { documentId: documentId ?? null, entries: [] } : dataOf(answer)
}

const bodyOf = ({ body }: HttpResponse): Readonly<Record<string, unknown>> => JSON.parse(String(body))

const dataOf = (answer: HttpResponse): unknown => bodyOf(answer).data

function faultOf(answer: HttpResponse): Fault {
  const { error } = bodyOf(answer)
  const { name, message, details } = isRecord(error) ? error : {}
  const codes = Object.keys(FAULTS) as FaultCode[]
  const code = codes.find(each => FAULTS[each].name === name) ?? 'internal'
  return fault(code, String(message), isRecord(details) ? details : {})
}

interface AnswerContext {
  readonly call: RestCall
  readonly action: DocumentAction
}

/** The original answer if its value is unchanged; else the new value as JSON. */
function toAnswer(value: unknown, last: HttpResponse | null, { call, action }: AnswerContext): HttpResponse {
  if (action === 'delete') return last ?? { status: 204, body: null }
  if (value === null && action !== 'create') return toFaultResponse(notFound())
  if (last === null || last.status >= 400) {
    const body = JSON.stringify({ data: value, meta: {} })
    return answerJson(body, call, action === 'create' ? 201 : 200)
  }
  if (isDeepStrictEqual(value, dataOf(last))) return last
  return { ...last, body: JSON.stringify({ data: value, meta: bodyOf(last).meta }) }
}
