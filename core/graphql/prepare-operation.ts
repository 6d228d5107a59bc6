import {
  type DocumentNode,
  GraphQLError,
  getOperationAST,
  getVariableValues,
  parse,
  specifiedRules,
  validate,
} from 'graphql'
import { failed, ok, type Result } from '../base/result.ts'
import type { Asked, Engine, Prepared } from './engine.ts'
import { limitDepth } from './limit-depth.ts'

/** Text → document → checked against the schema and the limits → operation and variables; else HTTP 400 (contract/graphql.md 10). */
export function prepareOperation(asked: Asked, engine: Engine): Result<Prepared, GraphQLError> {
  const document = parseText(asked.query, engine)
  if (!document.ok) return document
  const invalid = validate(engine.schema, document.value, rulesOf(engine))
  if (invalid.length > 0) return failed(...invalid.map(error => coded(error, 'GRAPHQL_VALIDATION_FAILED')))
  const operation = getOperationAST(document.value, asked.operationName)
  if (!operation) return failed(unknownOperation(asked))
  if (operation.operation === 'subscription')
    return failed(
      coded(
        new GraphQLError('Schema is not configured for subscriptions.', { nodes: operation }),
        'INTERNAL_SERVER_ERROR',
      ),
    )
  const values = getVariableValues(engine.schema, operation.variableDefinitions ?? [], asked.variables)
  if (values.errors) return failed(...values.errors.map(error => coded(error, 'BAD_USER_INPUT')))
  return ok({ document: document.value, operation, variables: asked.variables })
}

function parseText(text: string, { config }: Engine): Result<DocumentNode, GraphQLError> {
  try {
    return ok(parse(text, { maxTokens: config.limits.tokens }))
  } catch (error) {
    if (error instanceof GraphQLError) return failed(coded(error, 'GRAPHQL_PARSE_FAILED'))
    throw error
  }
}

const rulesOf = ({ config }: Engine) => [...specifiedRules, limitDepth(config.depthLimit)]

const unknownOperation = ({ operationName }: Asked): GraphQLError =>
  new GraphQLError(
    operationName === null
      ? 'Must provide operation name if query contains multiple operations.'
      : `Unknown operation named "${operationName}".`,
    { extensions: { code: 'INTERNAL_SERVER_ERROR' } },
  )

/** The same error with a code, unless it has one. */
function coded(error: GraphQLError, code: string): GraphQLError {
  const { nodes, source, positions, path, extensions } = error
  return new GraphQLError(error.message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    extensions: { code, ...extensions },
  })
}
