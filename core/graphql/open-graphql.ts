import { createPrefetch, type VersionPrefetch } from '../cache/versions.ts'
import { forbidden } from '../faults/fault.ts'
import {
  type HttpRequest,
  type HttpResponse,
  type Responder,
  toFaultResponse,
} from '../faults/http-exchange.ts'
import type { Identify } from '../identity/identify.ts'
import type { Observer } from '../observe/observation.ts'
import type { GuardOptions } from '../plugins/route-guard.ts'
import type { GraphqlParts } from '../plugins/services/open-graphql-service.ts'
import { openResolverRequest } from '../plugins/services/plugin-context.ts'
import type { GraphqlSettings } from '../project/settings/settings.ts'
import { type CompiledSchemas, compileGenerated } from './compile-schema.ts'
import { buildSchema } from './connect-schema.ts'
import { type Engine, openEngine } from './engine.ts'
import { configuredFormat, type FormatName } from './formats/format.ts'
import { type Budget, limitPath, openBudget, overLimit } from './limits/budget.ts'
import { type Deadline, openDeadline } from './limits/deadline.ts'
import { responseType } from './refusal.ts'
import { AnswerSize } from './resolve/answer-size.ts'
import type { FixedOptions } from './resolve/fixed-field.ts'
import type { ExecutionContext } from './resolve/resolver-context.ts'
import { runOperation } from './run-operation.ts'
import {
  errorResponse,
  METHODS_ANSWER,
  NO_BATCHES,
  parseOperationRequest,
  parseTransport,
  type TransportRequest,
} from './transport/parse-transport.ts'
import { openPlayground } from './transport/playground.ts'
import type { TrustedDocuments } from './transport/trusted-documents.ts'

/** Services and settings of the GraphQL endpoint. */
export interface GraphqlOptions extends Omit<FixedOptions, 'limits' | 'format'> {
  readonly settings: GraphqlSettings
  readonly identify: Identify
  readonly observer: Observer
  /** In production introspection is off by default (reference/graphql.md#11-limits-playground-and-introspection). */
  readonly production: boolean
  /** `server.explainDenials`: in development, responses contain the reason of a refusal. */
  readonly explains?: boolean
  /** Parts that project.yaml and extensions disable; absent: only those of project.yaml. */
  readonly shadow?: GraphqlParts['shadow']
  /** The schemas with the project's extensions, compiled when the project was loaded. */
  readonly compiled?: CompiledSchemas
  /** Absent: no trusted documents. */
  readonly trusted?: TrustedDocuments
  /** `database.limits.bytes`: maximum size of the answer to one request; 0 or absent: there is none. */
  readonly maxBytes?: number
  /** Services of the project's code. */
  readonly code?: GuardOptions
}

/** One of `graphql.endpoints`. */
export interface Endpoint {
  readonly path: string
  readonly format: FormatName
}

/** A GraphQL endpoint: transport → caller → operation → schema → documents (reference/graphql.md). */
export function openGraphql(options: GraphqlOptions, { path, format }: Endpoint): Responder {
  const engine = createEngine(options, format)
  const playground = openPlayground(path, options.settings.config, options.production)
  return request => {
    const page = playground(request)
    if (page || !isAt(request.path, path)) return page
    return request.method === 'OPTIONS' ? METHODS_ANSWER : respond(request, engine, options)
  }
}

const isAt = (path: string, endpoint: string): boolean => path === endpoint || path === `${endpoint}/`

function createEngine(options: GraphqlOptions, format: FormatName): Engine {
  const { config } = options.settings
  const configured = configuredFormat(format, config.entityId)
  const limits = { amountLimit: config.amountLimit, defaultLimit: config.defaultLimit }
  const compiled = options.compiled?.get(format) ?? compileGenerated({ ...options, format })
  const schema = buildSchema(compiled, { ...options, format: configured, limits })
  return openEngine(schema, {
    ...options,
    format: configured,
    config,
    trusted: options.trusted ?? null,
    roots: compiled.roots,
  })
}

async function respond(
  request: HttpRequest,
  engine: Engine,
  { identify, files, code, maxBytes = 0 }: GraphqlOptions,
): Promise<HttpResponse> {
  const prefetch = code ? undefined : prefetchFor(request)
  const caller = await identify(request.headers.authorization, prefetch)
  request.identified = caller
  const pluginRequest = code && openResolverRequest(request, caller, code)
  const mayUpload = caller.grants.allows('upload', 'upload')
  const sent = await parseTransport(pluginRequest?.passed() ?? request, {
    files,
    mayUpload,
    format: engine.format,
  })
  if (!sent.ok) return sent.reasons[0] ?? toFaultResponse(forbidden('The request is no operation'))
  const readsOnly = request.method !== 'POST'
  const { limits } = engine.config
  const deadline = openDeadline(limits.time)
  const execution = {
    caller,
    requestId: request.id,
    requestContext: request,
    peer: request.peer,
    signal: deadline.signal,
    answerSize: new AnswerSize(maxBytes),
    // In a batch, an operation may write what the next one reads.
    ...(prefetch && sent.value.kind === 'one' && { prefetch }),
    ...(pluginRequest && { pluginRequest }),
  }
  try {
    const answer = await answerOperations(sent.value, {
      execution,
      type: responseType(request.headers, engine.format.name),
      engine,
      readsOnly,
      budget: openBudget(limits),
      deadline,
    })
    return pluginRequest ? { ...answer, headers: { ...answer.headers, ...pluginRequest.headers() } } : answer
  } finally {
    deadline.stop()
    await files.discard(sent.value)
  }
}

const prefetchFor = ({ headers, method, search }: HttpRequest): VersionPrefetch | undefined =>
  headers.authorization === undefined ? undefined : createPrefetch(`${method} graphql?${search}`)

interface AnswerOptions {
  readonly execution: ExecutionContext
  readonly engine: Engine
  /** The media type of the answer. */
  readonly type: string
  readonly readsOnly: boolean
  /** Shared by all operations of the request. */
  readonly budget: Budget
  readonly deadline: Deadline
}

/** Runs the operations of a batch in order and answers them together. */
async function answerOperations(sent: TransportRequest, options: AnswerOptions): Promise<HttpResponse> {
  if (sent.kind === 'one') return answerOperation(sent.requested, options)
  const bodies: string[] = []
  let status = 200
  const { config, format } = options.engine
  const { limits, serverOptions } = config
  if (!serverOptions.allowBatchedHttpRequests) return errorResponse(400, NO_BATCHES, 'BAD_REQUEST')
  const most = limits.rootFields
  if (sent.inputs.length > most) return refuseBatch(sent.inputs.length, most)
  let headers: HttpResponse['headers']
  let isPassing = true
  for (const input of sent.inputs) {
    const answer = await answerOperation(parseOperationRequest(input, format), options)
    bodies.push(String(answer.body))
    if (answer.status === 503) status = 503
    headers = answer.headers === NO_STORE ? NO_STORE : headers
    isPassing &&= answer.isTransient === true
  }
  return {
    status,
    body: `[${bodies.join(',')}]`,
    type: options.type,
    isTransient: isPassing,
    ...(headers && { headers }),
  }
}

/** Each operation has at least one root field, so a longer batch exceeds the budget. */
function refuseBatch(counted: number, most: number): HttpResponse {
  const error = overLimit({
    what: 'operations in a batch',
    counted,
    limit: most,
    key: limitPath('rootFields'),
  })
  return { status: 400, body: JSON.stringify({ errors: [error] }) }
}

async function answerOperation(
  requested: Extract<TransportRequest, { readonly kind: 'one' }>['requested'],
  { execution, engine, type, ...options }: AnswerOptions,
): Promise<HttpResponse> {
  if (!requested.ok) return requested.reasons[0] ?? toFaultResponse(forbidden('The request is no operation'))
  const { status, body, secret, isDone, reason } = await runOperation(
    requested.value,
    execution,
    engine,
    options,
  )
  const answer: HttpResponse = {
    status,
    body,
    type,
    ...(!isDone && { isTransient: true }),
    ...(reason !== undefined && { reason }),
  }
  if (secret) return { ...answer, headers: NO_STORE }
  return status === 405 ? { ...answer, headers: { Allow: 'POST' } } : answer
}

/** Credentials must not be cached, as over REST. */
const NO_STORE = { 'Cache-Control': 'no-store' } as const
