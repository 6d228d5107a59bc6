import { execute, GraphQLError, type GraphQLFormattedError } from 'graphql'
import type { Budget } from './budget.ts'
import { type Deadline, tookTooLong } from './deadline.ts'
import type { Asked, Engine } from './engine.ts'
import { prepareOperation } from './prepare-operation.ts'
import type { Acting } from './resolve-read.ts'

/** What an operation comes to, and the HTTP status that it has on its own. */
export interface Ran {
  readonly status: 200 | 400 | 405
  readonly result: { readonly errors?: readonly GraphQLFormattedError[]; readonly data?: unknown }
}

/** GET changes nothing (contract/graphql.md 10). */
export interface RunTerms {
  readonly readsOnly: boolean
  readonly budget: Budget
  readonly deadline: Deadline
}

export async function runOperation(
  asked: Asked,
  acting: Acting,
  engine: Engine,
  { readsOnly, budget, deadline }: RunTerms,
): Promise<Ran> {
  const prepared = prepareOperation(asked, engine, { caller: acting.caller, budget })
  if (!prepared.ok) return { status: 400, result: { errors: prepared.reasons.map(formatError) } }
  const { checked, operation, variables } = prepared.value
  if (readsOnly && operation.operation !== 'query') return { status: 405, result: { errors: [ONLY_QUERIES] } }
  if (deadline.signal.aborted) return late(deadline)
  const running = execute({
    schema: engine.schema,
    document: checked.document,
    variableValues: variables,
    operationName: asked.operationName,
    contextValue: acting,
  })
  const ran = await (running instanceof Promise ? Promise.race([running, deadline.late]) : running)
  if (!ran) return late(deadline)
  const { data, errors } = ran
  const told = errors?.map(error => tell(error, acting.requestId, engine))
  return { status: 200, result: { ...(told ? { errors: told } : {}), data } }
}

const late = ({ milliseconds }: Deadline): Ran => ({
  status: 200,
  result: { errors: [formatError(tookTooLong(milliseconds))], data: null },
})

const ONLY_QUERIES: GraphQLFormattedError = {
  message: 'GET supports only query operation',
  extensions: { code: 'INTERNAL_SERVER_ERROR' },
}

/** Faults of the request are told as they are; of any other trouble the log hears, the client only that there was some. */
function tell(error: GraphQLError, requestId: string, { observer }: Engine): GraphQLFormattedError {
  const { originalError } = error
  if (!originalError || originalError instanceof GraphQLError || error.extensions.code !== undefined)
    return formatError(error)
  observer.tell({ kind: 'failed', requestId, error: originalError })
  return { message: 'Internal Server Error', extensions: { code: 'INTERNAL_SERVER_ERROR' } }
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
