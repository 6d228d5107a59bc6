import { isDeepStrictEqual } from 'node:util'
import { failed, ok } from '../base/result.ts'
import type { Documents } from '../documents/documents.ts'
import { toError } from '../faults/errors.ts'
import { answerFault, type HttpAnswer } from '../faults/exchange.ts'
import { FAULTS, type Fault, type FaultCode, fault, notFound } from '../faults/fault.ts'
import type { AroundDocuments, DocumentAction } from '../plugins/services/documents-api.ts'
import { isRecord } from '../query/parse-place.ts'
import { answer, refuse } from './answer.ts'
import { badCursor } from './parameters/parse-pagination.ts'
import { readData } from './parse-body.ts'
import { parseQueryString } from './parse-query-string.ts'
import type { Given, RestTerms, Visit } from './request-visit.ts'

/** Answers a visit for its action. */
export type Handler = (visit: Visit, terms: RestTerms) => Promise<HttpAnswer>

export interface AroundTerms {
  readonly action: DocumentAction
  readonly handler: Handler
  readonly around: AroundDocuments
  readonly terms: RestTerms
}

/**
 * A handler with the document middlewares round it. What the request asks for is refused, where it is, before they
 * see it; then the JSON text of the answer becomes a value, and text again only where they changed it.
 */
export async function performAround(
  visit: Visit,
  { action, handler, around, terms }: AroundTerms,
): Promise<HttpAnswer> {
  const parameters = parseQueryString(visit.request.search)
  if (!parameters.ok) return refuse(parameters)
  const body = once(() => readData(visit.request))
  const asked: Visit = { ...visit, given: { parameters: parameters.value, data: body, before: null } }
  const checked = await handler(asked, { ...terms, documents: IDLE })
  if (checked.status >= 400) return checked
  const data = WITH_DATA.has(action) ? await body() : ok({})
  if (!data.ok) return refuse(data)
  // As middlewares get them: objects of a query string have no prototype.
  const params = structuredClone(
    paramsOf(visit, parameters.value, WITH_DATA.has(action) ? { data: data.value } : {}),
  )
  const run = async (changed: Params): Promise<HttpAnswer> => {
    if (isDeepStrictEqual(changed, params)) return handler(asked, terms)
    if (pagesAnew(changed, params)) return refuse(failed(badCursor(OWN_ORDER)))
    return handler(amended(visit, changed, data.value), terms)
  }
  let last: HttpAnswer | null = null
  const value = await around({
    type: visit.route.type,
    action,
    params,
    async perform(changed) {
      last = await run(changed)
      return answered(last, action, changed)
    },
  })
  return print(value, last, { visit, action })
}

type Params = Readonly<Record<string, unknown>>

/** A cursor holds the values that a list is sorted by: where the caller did not choose these, they may not be for him. */
const pagesAnew = ({ sort, pagination }: Params, before: Params): boolean =>
  isRecord(pagination) && pagination.after !== undefined && !isDeepStrictEqual(sort, before.sort)

const OWN_ORDER = 'code of the project puts this list into an order of its own, which has no cursors'

const WITH_DATA: ReadonlySet<DocumentAction> = new Set<DocumentAction>(['create', 'update'])

/** Does nothing: for checking all that can be checked without the database. */
const IDLE: Documents = {
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

function once<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let working: Promise<Value> | undefined
  return () => (working ??= work())
}

/** As code gives them: what REST takes for granted is said. */
function paramsOf({ route }: Visit, parameters: Given['parameters'], data: object): Record<string, unknown> {
  const status = parameters.status ?? 'published'
  const document = route.documentId === null ? {} : { documentId: route.documentId }
  return { ...document, ...parameters, status, ...data }
}

/** The visit, as if its request had asked for this. */
function amended(
  visit: Visit,
  changed: Readonly<Record<string, unknown>>,
  before: Readonly<Record<string, unknown>>,
): Visit {
  const { documentId = null, data, ...parameters } = changed
  return {
    ...visit,
    route: { ...visit.route, documentId: documentId === null ? null : String(documentId) },
    given: {
      parameters,
      data: async () => (isRecord(data) ? ok(data) : failed(noData())),
      before: { data: before },
    },
  }
}

const noData = (): Fault => fault('validation', 'data must be an object of attributes', { key: 'data' })

/** What the action answers to code; throws what it refuses. */
function answered(
  done: HttpAnswer,
  action: DocumentAction,
  { documentId }: Readonly<Record<string, unknown>>,
): unknown {
  if (done.status === 404 && action !== 'delete') return null
  if (done.status >= 400) throw toError(faultOf(done))
  return action === 'delete' ? { documentId: documentId ?? null, entries: [] } : dataOf(done)
}

const bodyOf = ({ body }: HttpAnswer): Readonly<Record<string, unknown>> => JSON.parse(String(body))

const dataOf = (answer: HttpAnswer): unknown => bodyOf(answer).data

function faultOf(answer: HttpAnswer): Fault {
  const { error } = bodyOf(answer)
  const { name, message, details } = isRecord(error) ? error : {}
  const codes = Object.keys(FAULTS) as FaultCode[]
  const code = codes.find(each => FAULTS[each].name === name) ?? 'internal'
  return fault(code, String(message), isRecord(details) ? details : {})
}

interface Printed {
  readonly visit: Visit
  readonly action: DocumentAction
}

/** The answer as it was, where its value is; else printed anew. */
function print(value: unknown, last: HttpAnswer | null, { visit, action }: Printed): HttpAnswer {
  if (action === 'delete') return last ?? { status: 204, body: null }
  if (value === null && action !== 'create') return answerFault(notFound())
  if (last === null || last.status >= 400) {
    const body = JSON.stringify({ data: value, meta: {} })
    return answer(body, visit, action === 'create' ? 201 : 200)
  }
  if (isDeepStrictEqual(value, dataOf(last))) return last
  return { ...last, body: JSON.stringify({ data: value, meta: bodyOf(last).meta }) }
}
