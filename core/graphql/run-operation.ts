import { type ExecutionResult, execute, GraphQLError, type GraphQLFormattedError } from 'graphql'
import type { WriteScope } from '../base/request-context.ts'
import { concatTexts } from '../base/text.ts'
import { withTimeout } from '../base/with-timeout.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import { toRequestFault } from '../database/request-fault.ts'
import { stayOnPrimary } from '../database/statements/session-scope.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import type { Observer } from '../observe/observation.ts'
import type { Engine, PreparedOperation } from './engine.ts'
import type { Budget } from './limits/budget.ts'
import { type Deadline, timeoutError } from './limits/deadline.ts'
import { MutationFailure } from './mutation-failure.ts'
import { toGraphqlError } from './parse/to-graphql-error.ts'
import { prepareOperation } from './prepare-operation.ts'
import type { ExecutionContext } from './resolve/resolve-read.ts'
import { answerText, type TextAnswer } from './text/answer-text.ts'
import type { OperationRequest } from './transport/parse-transport.ts'

/** What an operation comes to, and the HTTP status that it has on its own. */
export interface OperationResponse {
  readonly status: 200 | 400 | 405 | 503
  /** JSON. */
  readonly body: string | Buffer
  /** What a mutation answers may let somebody in: a token. */
  readonly secret?: true
  /** A mutation that did something, or had nothing to do. */
  readonly isDone?: true
}

interface ResponseBody {
  readonly errors?: readonly GraphQLFormattedError[]
  readonly data?: unknown
}

const toResponse = (status: OperationResponse['status'], told: ResponseBody): OperationResponse => ({
  status,
  body: JSON.stringify(told),
})

/** GET changes nothing (contract/graphql.md 10). */
export interface RunOptions {
  readonly readsOnly: boolean
  readonly budget: Budget
  readonly deadline: Deadline
}

export async function runOperation(
  asked: OperationRequest,
  acting: ExecutionContext,
  engine: Engine,
  { readsOnly, budget, deadline }: RunOptions,
): Promise<OperationResponse> {
  const prepared = prepareOperation(asked, engine, { caller: acting.caller, budget })
  if (!prepared.ok)
    return toResponse(refusalStatus(prepared.reasons[0]), { errors: prepared.reasons.map(formatError) })
  const isQuery = prepared.value.operation.operation === 'query'
  if (readsOnly && !isQuery) return toResponse(405, { errors: [ONLY_QUERIES] })
  const writes = isQuery ? undefined : acting.trail?.writes
  if (deadline.signal.aborted) return timedOut(deadline, writes)
  if (!isQuery) stayOnPrimary()
  const telling = { observer: engine.observer, requestId: acting.requestId, deadline }
  const whole = isQuery ? await runText(prepared.value, acting, engine, deadline) : null
  if (whole)
    return { status: responseStatus(whole), body: bodyOf(whole, error => reportError(error, telling)) }
  if (deadline.signal.aborted) return timedOut(deadline, writes)
  const running = execute({
    schema: engine.schema,
    document: prepared.value.checked.document,
    variableValues: asked.variables,
    operationName: asked.operationName,
    contextValue: acting,
  })
  const result = await (running instanceof Promise ? withinDeadline(running, deadline, writes) : running)
  if (!result) return timedOut(deadline, writes)
  const { data, errors } = result
  const told = errors?.map(error => reportError(error, telling))
  const answer = toResponse(responseStatus(result), { ...(told ? { errors: told } : {}), data })
  if (isQuery) return answer
  return { ...answer, secret: true, ...((!errors || hasData(data ?? {})) && { isDone: true }) }
}

/** GraphQL has no word for a server that has to be restarted; balancers look at the status. */
const responseStatus = (answer: { readonly errors?: readonly GraphQLError[] } | object): 200 | 503 =>
  'errors' in answer && answer.errors?.some(isOutdated) ? 503 : 200

const isOutdated = ({ originalError }: GraphQLError): boolean =>
  toDatabaseFault(originalError instanceof MutationFailure ? originalError.cause : originalError)?.kind ===
  'outdated'

/** Fields without data beside errors have failed: nothing of theirs was written. */
const hasData = (data: Readonly<Record<string, unknown>>): boolean =>
  Object.values(data).some(value => value !== null)

/** Milliseconds that mutations under way have to end after the time of their request. */
const END_TIMEOUT = 2_000

/**
 * What is run by the end of its time; null: it is not. From then on no mutation commits, and each that ends says what
 * became of it: only what neither ends nor fails is given up.
 */
async function withinDeadline(
  running: Promise<ExecutionResult>,
  { expired: over }: Deadline,
  writes: WriteScope | undefined,
): Promise<ExecutionResult | null> {
  const result = await Promise.race([running, over])
  if (result || !writes) return result
  writes.close()
  const end = () => writes.detach()
  running.then(end, end)
  return withTimeout<ExecutionResult | null>(END_TIMEOUT, running, null)
}

function bodyOf(answer: TextAnswer, told: (error: GraphQLError) => GraphQLFormattedError): string | Buffer {
  if ('body' in answer) return answer.body
  const { data, errors } = answer
  const before = errors.length === 0 ? '' : `"errors":${JSON.stringify(errors.map(told))},`
  return concatTexts([`{${before}"data":`, ...data, '}'])
}

/** The data as PostgreSQL writes it, with what code of the project has in it; null: it is to be made field by field. */
async function runText(
  { plan: ready, operation, checked: { fragments } }: PreparedOperation,
  acting: ExecutionContext,
  { text, schema, observer }: Engine,
  { expired: over }: Deadline,
): Promise<TextAnswer | null> {
  if (!ready.text) return null
  const told = { schema, fragments, operation, variableValues: { ...ready.variables }, rootValue: undefined }
  const answer = answerText(ready.text, { context: acting, documents: text.documents, operation: told })
  return Promise.race([answer, over]).catch((error: unknown) => {
    // Asking again field by field would cost the same again.
    if (error instanceof RequestFault) return { data: ['null'], errors: [toGraphqlError(error.fault)] }
    // What the database refuses is told field by field, too, with the paths of the fields; all else is a bug.
    if (!toDatabaseFault(error)) observer.emit({ kind: 'failed', requestId: acting.requestId, error })
    return null
  })
}

/** Clients that name a document take it as an answer that it is not there, and send it. */
const refusalStatus = (error: GraphQLError | undefined): 200 | 400 =>
  /^PERSISTED_QUERY_/.test(String(error?.extensions.code)) ? 200 : 400

const timedOut = ({ milliseconds }: Deadline, writes: WriteScope | undefined): OperationResponse =>
  toResponse(200, { errors: [formatError(timeoutError(milliseconds, writes?.outcome))], data: null })

const ONLY_QUERIES: GraphQLFormattedError = {
  message: 'GET supports only query operation',
  extensions: { code: 'INTERNAL_SERVER_ERROR' },
}

interface ErrorContext {
  readonly observer: Observer
  readonly requestId: string
  readonly deadline: Deadline
}

/** Faults of the request are told as they are; of any other trouble the log hears, the client only that there was some. */
function reportError(error: GraphQLError, telling: ErrorContext): GraphQLFormattedError {
  const { originalError } = error
  const { observer, requestId } = telling
  if (originalError instanceof MutationFailure) return reportMutation(error, originalError, telling)
  if (originalError instanceof RequestFault) return formatError(toGraphqlError(originalError.fault))
  if (!originalError || originalError instanceof GraphQLError || error.extensions.code !== undefined)
    return formatError(error)
  const told = toRequestFault(originalError)
  if (told) {
    if (told.reason !== null) observer.emit({ kind: 'unavailable', requestId, reason: told.reason })
    return formatError(toGraphqlError(told.fault))
  }
  observer.emit({ kind: 'failed', requestId, error: originalError })
  return INTERNAL
}

const INTERNAL: GraphQLFormattedError = {
  message: 'Internal Server Error',
  extensions: { code: 'INTERNAL_SERVER_ERROR' },
}

/** Of several mutations the path says which one it was. */
function reportMutation(
  { path }: GraphQLError,
  { cause, outcome, isLate }: MutationFailure,
  { observer, deadline, requestId }: ErrorContext,
): GraphQLFormattedError {
  const told = toRequestFault(cause)
  if (!told && !isLate) observer.emit({ kind: 'failed', requestId, error: cause })
  if (told && told.reason !== null) observer.emit({ kind: 'unavailable', requestId, reason: told.reason })
  if (!told && !isLate && outcome === 'not-written') return INTERNAL
  const { code, message } = told?.fault ?? fault('internal', INTERNAL.message)
  const failure = isLate
    ? timeoutError(deadline.milliseconds, outcome)
    : toGraphqlError(fault(code, message, { outcome }))
  return { ...formatError(failure), ...(path && { path }) }
}

/** What the server says itself carries neither path nor locations (contract/graphql.md 10). */
function formatError(error: GraphQLError): GraphQLFormattedError {
  const { message, extensions } = error
  if (extensions.error) return { message, extensions }
  const { locations, path } = error.toJSON()
  return {
    message,
    ...(locations ? { locations } : {}),
    ...(path ? { path } : {}),
    extensions: { code: 'INTERNAL_SERVER_ERROR', ...extensions },
  }
}
