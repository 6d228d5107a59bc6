import type { Caller } from '../access/caller.ts'
import type { Documents } from '../documents/documents.ts'
import { answerFault, type HttpAnswer, type HttpRequest, type Responder } from '../faults/exchange.ts'
import { forbidden } from '../faults/fault.ts'
import type { Identify } from '../identity/identify.ts'
import type { Model } from '../model/model.ts'
import type { Observer } from '../observe/observation.ts'
import type { GraphqlSettings } from '../project/settings.ts'
import { buildSchema } from './build-schema.ts'
import type { Engine } from './engine.ts'
import { parseTransport, type Sent } from './parse-transport.ts'
import { runOperation } from './run-operation.ts'
import { openShadowCrud } from './shadow-crud.ts'

/** What GraphQL needs of the rest of the server. */
export interface GraphqlTerms {
  readonly model: Model
  readonly settings: GraphqlSettings
  readonly documents: Documents
  readonly identify: Identify
  readonly observer: Observer
}

/** The endpoint: transport → caller → operation → schema → documents (spec 4.9; contract/graphql.md). */
export function openGraphql(terms: GraphqlTerms): Responder {
  const { config } = terms.settings
  const engine = openEngine(terms)
  return request => (isAt(request.path, config.endpoint) ? respond(request, engine, terms) : null)
}

const isAt = (path: string, endpoint: string): boolean => path === endpoint || path === `${endpoint}/`

function openEngine({ model, settings: { config, shadowCRUD }, documents, observer }: GraphqlTerms): Engine {
  const shadow = openShadowCrud(
    new Map(Object.entries(shadowCRUD).map(([key, one]) => [`api::${key}.${key}`, one])),
  )
  const limits = { amountLimit: config.amountLimit, defaultLimit: config.defaultLimit }
  const { schema } = buildSchema(model, shadow, { model, documents, limits })
  return { schema, config, observer }
}

async function respond(
  request: HttpRequest,
  engine: Engine,
  { identify }: GraphqlTerms,
): Promise<HttpAnswer> {
  const caller = await identify(request.headers.authorization)
  if (!caller.ok) return answerFault(caller.reasons[0] ?? forbidden())
  const sent = await parseTransport(request)
  if (!sent.ok) return sent.reasons[0] ?? answerFault(forbidden())
  const readsOnly = request.method !== 'POST'
  return answerSent(sent.value, { caller: caller.value, requestId: request.id, engine, readsOnly })
}

interface Answering {
  readonly caller: Caller
  readonly requestId: string
  readonly engine: Engine
  readonly readsOnly: boolean
}

/** The operations of a batch are run in order, and answered together. */
async function answerSent(sent: Sent, answering: Answering): Promise<HttpAnswer> {
  if (sent.kind === 'one') return answerOne(sent.asked, answering)
  const bodies: string[] = []
  for (const asked of sent.asked) {
    const { body } = await answerOne(asked, answering)
    bodies.push(String(body))
  }
  return { status: 200, body: `[${bodies.join(',')}]` }
}

async function answerOne(
  asked: Extract<Sent, { readonly kind: 'one' }>['asked'],
  { caller, requestId, engine, readsOnly }: Answering,
): Promise<HttpAnswer> {
  if (!asked.ok) return asked.reasons[0] ?? answerFault(forbidden())
  const { status, result } = await runOperation(asked.value, { caller, requestId }, engine, { readsOnly })
  const answer: HttpAnswer = { status, body: JSON.stringify(result) }
  return status === 405 ? { ...answer, headers: { Allow: 'POST' } } : answer
}
