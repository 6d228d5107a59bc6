import { type ExecutionResult, execute, GraphQLError, type GraphQLFormattedError } from 'graphql'
import type { WriteScope } from '../base/request-context.ts'
import { concatTexts, cutMiddle } from '../base/text.ts'
import { withTimeout } from '../base/with-timeout.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import { toRequestFault } from '../database/request-fault.ts'
import { stayOnPrimary } from '../database/statements/session-scope.ts'
import { answerTooLarge } from '../documents/read/read.ts'
import { type FaultDetails, fault, MAX_MESSAGE, RequestFault } from '../faults/fault.ts'
import type { Observer } from '../observe/observation.ts'
import type { Engine, PreparedOperation } from './engine.ts'
import type { GraphqlFormat } from './formats/format.ts'
import type { Budget } from './limits/budget.ts'
import { type Deadline, timeoutError } from './limits/deadline.ts'
import { MutationFailure } from './mutation-failure.ts'
import { denialReason, toGraphqlError } from './parse/to-graphql-error.ts'
import { prepareOperation } from './prepare-operation.ts'
import { type AnswerSize, countedField } from './resolve/answer-size.ts'
import type { ExecutionContext } from './resolve/resolver-context.ts'
import { answerText, type TextAnswer } from './text/answer-text.ts'
import type { OperationRequest } from './transport/parse-transport.ts'

/** The response to one operation, with its HTTP status. */
export interface OperationResponse {
  readonly status: 200 | 400 | 405 | 503
  /** JSON. */
  readonly body: string | Buffer
  /** The response of a mutation may contain credentials. */
  readonly secret?: true
  /** The mutation succeeded, or had nothing to do. */
  readonly isDone?: true
  /** Why the first refused field is refused, for the log. */
  readonly reason?: string | undefined
}

interface ResponseBody {
  readonly errors?: readonly GraphQLFormattedError[]
  readonly data?: unknown
}

const toResponse = (status: OperationResponse['status'], body: ResponseBody): OperationResponse => ({
  status,
  body: JSON.stringify(body),
})

/** `readsOnly`: GET requests may not run mutations (reference/graphql.md#10-errors). */
export interface RunOperationOptions {
  readonly readsOnly: boolean
  readonly budget: Budget
  readonly deadline: Deadline
}

export async function runOperation(
  requested: OperationRequest,
  execution: ExecutionContext,
  engine: Engine,
  { readsOnly, budget, deadline }: RunOperationOptions,
): Promise<OperationResponse> {
  const prepared = prepareOperation(requested, engine, budget)
  if (!prepared.ok)
    return toResponse(refusalStatus(prepared.reasons[0]), {
      errors: prepared.reasons.map(error => formatRefusal(error, engine.format)),
    })
  const isQuery = prepared.value.operation.operation === 'query'
  if (readsOnly && !isQuery) return toResponse(405, { errors: [onlyQueries(engine.format)] })
  const writes = isQuery ? undefined : execution.requestContext?.writes
  if (deadline.signal.aborted) return timedOut(deadline, writes, engine.format)
  if (!isQuery) stayOnPrimary()
  const errorContext = {
    observer: engine.observer,
    format: engine.format,
    requestId: execution.requestId,
    deadline,
    showsReasons: engine.showsReasons,
  }
  const whole = isQuery ? await runText(prepared.value, execution, engine, deadline) : null
  if (whole)
    return {
      status: responseStatus(whole),
      body: bodyOf(whole, execution, errorContext),
      ...('errors' in whole && { reason: firstReason(whole.errors) }),
    }
  if (deadline.signal.aborted) return timedOut(deadline, writes, engine.format)
  const running = execute({
    schema: engine.schema,
    document: prepared.value.checked.document,
    variableValues: requested.variables,
    operationName: requested.operationName,
    contextValue: execution,
    fieldResolver: countedField,
  })
  const result = await (running instanceof Promise ? withinDeadline(running, deadline, writes) : running)
  if (!result) return timedOut(deadline, writes, engine.format)
  const { data, errors } = result
  const body = toBody(result, isQuery, execution, errorContext)
  const answer = { ...toResponse(responseStatus(result), body), reason: firstReason(errors ?? []) }
  if (isQuery) return answer
  return { ...answer, secret: true, ...((!errors || hasData(data ?? {})) && { isDone: true }) }
}

const firstReason = (errors: readonly GraphQLError[]): string | undefined =>
  errors.map(denialReason).find(reason => reason !== undefined)

/** 503 if the database schema is newer than this process: load balancers check the status. */
const responseStatus = (answer: { readonly errors?: readonly GraphQLError[] } | object): 200 | 503 =>
  'errors' in answer && answer.errors?.some(isOutdated) ? 503 : 200

const isOutdated = ({ originalError }: GraphQLError): boolean =>
  toDatabaseFault(originalError instanceof MutationFailure ? originalError.cause : originalError)?.kind ===
  'outdated'

/** False if all fields failed: then nothing was written. */
const hasData = (data: Readonly<Record<string, unknown>>): boolean =>
  Object.values(data).some(value => value !== null)

/** Milliseconds that running mutations have to end after the deadline. */
const END_TIMEOUT = 2_000

/**
 * Waits for the result until the deadline; null: it has passed. After it no mutation can commit. Mutations get
 * END_TIMEOUT to end and report their write outcome.
 */
async function withinDeadline(
  running: Promise<ExecutionResult>,
  { expired }: Deadline,
  writes: WriteScope | undefined,
): Promise<ExecutionResult | null> {
  const result = await Promise.race([running, expired])
  if (result || !writes) return result
  writes.close()
  const end = () => writes.detach()
  running.then(end, end)
  return withTimeout<ExecutionResult | null>(END_TIMEOUT, running, null)
}

function bodyOf(
  answer: TextAnswer,
  execution: ExecutionContext,
  errorContext: ErrorContext,
): string | Buffer {
  if ('body' in answer) return answer.body
  const { data, errors } = answer
  const formatted = reportAll(errors, execution, errorContext)
  if (execution.answerSize?.isOver)
    return JSON.stringify({ errors: [tooLarge(execution.answerSize, errorContext)], data: null })
  const before = formatted.length === 0 ? '' : `"errors":${JSON.stringify(formatted)},`
  return concatTexts([`{${before}"data":`, ...data, '}'])
}

/** Formats errors, until the answer is too large. */
function reportAll(
  errors: readonly GraphQLError[],
  { answerSize }: ExecutionContext,
  errorContext: ErrorContext,
): readonly GraphQLFormattedError[] {
  const formatted: GraphQLFormattedError[] = []
  for (const error of errors) {
    const one = reportError(error, errorContext)
    if (answerSize && !answerSize.add(JSON.stringify(one).length)) break
    formatted.push(one)
  }
  return formatted
}

const tooLarge = ({ most }: AnswerSize, { format }: ErrorContext): GraphQLFormattedError =>
  formatError(toGraphqlError(answerTooLarge(most, [])), format)

/** An answer that is too large is refused; of mutations, which were written, the part that was resolved is answered. */
function toBody(
  { data, errors }: ExecutionResult,
  isQuery: boolean,
  execution: ExecutionContext,
  errorContext: ErrorContext,
): ResponseBody {
  const formatted = errors && reportAll(errors, execution, errorContext)
  if (!execution.answerSize?.isOver) return { ...(formatted ? { errors: formatted } : {}), data }
  const error = tooLarge(execution.answerSize, errorContext)
  return isQuery ? { errors: [error], data: null } : { errors: [...(formatted ?? []), error], data }
}

/** Answers with PostgreSQL's text, custom fields inserted; null: resolve field by field. */
async function runText(
  { plan: ready, operation, checked: { fragments } }: PreparedOperation,
  execution: ExecutionContext,
  { text, schema, observer }: Engine,
  { expired }: Deadline,
): Promise<TextAnswer | null> {
  if (!ready.text) return null
  const info = { schema, fragments, operation, variableValues: { ...ready.variables }, rootValue: undefined }
  const answer = answerText(ready.text, { context: execution, documents: text.documents, operation: info })
  return Promise.race([answer, expired]).catch((error: unknown) => {
    // Resolving field by field would repeat the cost.
    if (error instanceof RequestFault) return { data: ['null'], errors: [toGraphqlError(error.fault)] }
    // A database error of the query occurs field by field, too, and gets the path of its field there; all other errors are bugs.
    if (!toDatabaseFault(error)) observer.emit({ kind: 'failed', requestId: execution.requestId, error })
    return null
  })
}

/** Apollo clients expect 200 with PERSISTED_QUERY_NOT_FOUND, then send the document. */
const refusalStatus = (error: GraphQLError | undefined): 200 | 400 =>
  /^PERSISTED_QUERY_/.test(String(error?.extensions.code)) ? 200 : 400

const timedOut = (
  { milliseconds }: Deadline,
  writes: WriteScope | undefined,
  format: GraphqlFormat,
): OperationResponse =>
  toResponse(200, { errors: [formatError(timeoutError(milliseconds, writes?.outcome), format)], data: null })

const onlyQueries = ({ errors }: GraphqlFormat): GraphQLFormattedError => ({
  message: 'GET supports only query operation',
  extensions: { code: errors.requestCode ?? 'INTERNAL_SERVER_ERROR' },
})

interface ErrorContext {
  readonly observer: Observer
  readonly format: GraphqlFormat
  readonly requestId: string
  readonly deadline: Deadline
  readonly showsReasons: boolean
}

function reportError(error: GraphQLError, errorContext: ErrorContext): GraphQLFormattedError {
  const formatted = toFormattedError(error, errorContext)
  const reason = errorContext.showsReasons ? denialReason(error) : undefined
  return reason === undefined ? formatted : withReason(formatted, reason)
}

/** Adds `details.reason`, as over REST. */
function withReason(formatted: GraphQLFormattedError, reason: string): GraphQLFormattedError {
  const error = formatted.extensions?.error as { readonly details?: FaultDetails } | undefined
  const details = { ...error?.details, reason }
  return { ...formatted, extensions: { ...formatted.extensions, error: { ...error, details } } }
}

/** Formats an error. Request faults are reported as they are; other errors are logged and hidden from the client. */
function toFormattedError(error: GraphQLError, errorContext: ErrorContext): GraphQLFormattedError {
  const { originalError, path } = error
  const { observer, requestId, format } = errorContext
  const at = format.errors.paths && path ? { path } : {}
  if (originalError instanceof MutationFailure) return reportMutation(error, originalError, errorContext)
  if (originalError instanceof RequestFault)
    return { ...formatError(toGraphqlError(originalError.fault), format), ...at }
  if (!originalError || originalError instanceof GraphQLError || error.extensions.code !== undefined) {
    if (path && WRONG_RESULT.test(error.message))
      observer.emit({
        kind: 'failed',
        requestId,
        error: new Error(`the resolver of ${path.join('.')}: ${error.message}`),
      })
    return formatError(error, format)
  }
  // graphql-js names the field; a draft may lack required values.
  if (NULL_IN_NON_NULL.test(originalError.message)) return formatError(error, format)
  const converted = toRequestFault(originalError)
  if (converted) {
    if (converted.reason !== null) observer.emit({ kind: 'unavailable', requestId, reason: converted.reason })
    return { ...formatError(toGraphqlError(converted.fault), format), ...at }
  }
  observer.emit({ kind: 'failed', requestId, error: originalError })
  return { ...INTERNAL, ...at }
}

/** What graphql-js says of values that do not fit the field. Only resolvers of project code return such values. */
const WRONG_RESULT =
  /^(?:\w+ cannot represent|Enum "\w+" cannot represent|Expected Iterable, but|Expected value of type|Abstract type ")/

const NULL_IN_NON_NULL = /^Cannot return null for non-nullable field \w+\.\w+\.$/

const INTERNAL: GraphQLFormattedError = {
  message: 'Internal Server Error',
  extensions: { code: 'INTERNAL_SERVER_ERROR' },
}

/** The error's path names the failed mutation. */
function reportMutation(
  { path }: GraphQLError,
  { cause, outcome, isLate }: MutationFailure,
  { observer, deadline, requestId, format }: ErrorContext,
): GraphQLFormattedError {
  const converted = toRequestFault(cause)
  if (!converted && !isLate) observer.emit({ kind: 'failed', requestId, error: cause })
  if (converted && converted.reason !== null)
    observer.emit({ kind: 'unavailable', requestId, reason: converted.reason })
  if (!converted && !isLate && outcome === 'not-written')
    return { ...INTERNAL, ...(format.errors.paths && path && { path }) }
  const { code, message } = converted?.fault ?? fault('internal', INTERNAL.message)
  const failure = isLate
    ? timeoutError(deadline.milliseconds, outcome)
    : toGraphqlError(fault(code, message, { outcome }))
  return { ...formatError(failure, format), ...(path && { path }) }
}

/** The messages of graphql-js repeat values and names of the request, perhaps a hundred times. */
function formatRefusal(error: GraphQLError, format: GraphqlFormat): GraphQLFormattedError {
  const formatted = formatError(error, format)
  return { ...formatted, message: cutMiddle(formatted.message, MAX_MESSAGE) }
}

/** Request faults have no locations, and a path only if the format says so. */
function formatError(error: GraphQLError, { errors }: GraphqlFormat): GraphQLFormattedError {
  const { message, extensions } = error
  const { locations, path } = error.toJSON()
  if (extensions.error) {
    const shown = errors.restDetails ? { message, extensions } : withoutRestDetails(error)
    return { ...shown, ...(errors.paths && path ? { path } : {}) }
  }
  return {
    message,
    ...(locations ? { locations } : {}),
    ...(path ? { path } : {}),
    extensions: { code: 'INTERNAL_SERVER_ERROR', ...extensions },
  }
}

/** Names an unknown key in filters or sort as a parameter, and does not repeat values. An invalid value keeps its message. */
function withoutRestDetails({
  message,
  extensions,
}: GraphQLError): Pick<GraphQLFormattedError, 'message' | 'extensions'> {
  const error = extensions.error as { readonly message: string; readonly details?: FaultDetails }
  const { details } = error
  if (details?.source === 'query') {
    const whole = details.expected === undefined ? `Invalid parameter ${String(details.key)}` : message
    const named = cutMiddle(whole, MAX_MESSAGE)
    return { message: named, extensions: { ...extensions, error: { ...error, message: named, details: {} } } }
  }
  if (!Array.isArray(details?.errors)) return { message, extensions }
  const errors = details.errors.map(({ value: _, ...one }: Readonly<Record<string, unknown>>) => one)
  return { message, extensions: { ...extensions, error: { ...error, details: { ...details, errors } } } }
}
