import { GraphQLError, getOperationAST, getVariableValues, type OperationDefinitionNode } from 'graphql'
import type { Caller } from '../access/caller.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Asked, Engine, Prepared } from './engine.ts'
import { type Budget, spend, spendCost, spendIntrospection } from './limits/budget.ts'
import { type CheckedDocument, checkDocument } from './limits/check-document.ts'
import { estimateCost } from './limits/estimate-cost.ts'
import { introspectionCost } from './limits/limit-introspection.ts'
import { deepVariable, limitVariables } from './limits/limit-variables.ts'
import { keep, type ReadyOperation, readyKey } from './operation-cache.ts'
import { coded } from './parse/coded-error.ts'
import { parseTextOperation } from './text/text-operation.ts'
import { textOf } from './transport/trusted-documents.ts'

/** For whom an operation is prepared, and what the request may still use. */
export interface PrepareTerms {
  readonly caller: Caller
  readonly budget: Budget
}

/** Text → checked document → operation and variables, within the budget of the request; else HTTP 400 (contract/graphql.md 10). */
export function prepareOperation(
  given: Asked,
  engine: Engine,
  { caller, budget }: PrepareTerms,
): Result<Prepared, GraphQLError> {
  const deep = deepVariable(given.variables)
  if (deep) return failed(deep)
  const query = textOf(given, engine.trusted)
  if (!query.ok) return query
  const asked = { ...given, query: query.value }
  const checked = documentOf(asked.query, engine)
  if (!checked.ok) return checked
  const operation = operationOf(asked, checked.value)
  if (!operation.ok) return operation
  const excess = spendShape(checked.value, operation.value, budget)
  if (excess) return failed(excess)
  const ready = readyOperation(asked, { checked: checked.value, operation: operation.value, engine })
  if (!ready.ok) return ready
  const { cost, introspection } = ready.value
  const dear = spendCost(budget, roleOf(caller), cost) ?? spendSchema(introspection, engine, budget)
  if (dear) return failed(dear)
  return ok({ checked: checked.value, operation: operation.value, ready: ready.value })
}

/** Tokens of API have no role: the default is theirs. */
const roleOf = ({ kind, grants }: Caller): string | null => (kind === 'token' ? null : grants.name)

function documentOf(text: string, engine: Engine): Result<CheckedDocument, GraphQLError> {
  const known = engine.documents.get(text)
  if (known) return ok(known)
  const checked = checkDocument(text, engine)
  if (checked.ok) engine.documents.set(text, checked.value)
  return checked
}

function operationOf(
  { operationName }: Asked,
  { document }: CheckedDocument,
): Result<OperationDefinitionNode, GraphQLError> {
  const operation = getOperationAST(document, operationName)
  if (!operation) return failed(unknownOperation(operationName))
  return operation.operation === 'subscription'
    ? failed(
        coded(
          new GraphQLError('Schema is not configured for subscriptions.', { nodes: operation }),
          'INTERNAL_SERVER_ERROR',
        ),
      )
    : ok(operation)
}

const unknownOperation = (operationName: string | null): GraphQLError =>
  new GraphQLError(
    operationName === null
      ? 'Must provide operation name if query contains multiple operations.'
      : `Unknown operation named "${operationName}".`,
    { extensions: { code: 'INTERNAL_SERVER_ERROR' } },
  )

function spendShape(
  { tokens, measures }: CheckedDocument,
  operation: OperationDefinitionNode,
  budget: Budget,
): GraphQLError | null {
  const { aliases = 0, rootFields = 0 } = measures.get(operation) ?? {}
  return (
    spend(budget, 'tokens', tokens) ??
    spend(budget, 'aliases', aliases) ??
    spend(budget, 'rootFields', rootFields)
  )
}

interface Reading {
  readonly checked: CheckedDocument
  readonly operation: OperationDefinitionNode
  readonly engine: Engine
}

/** Each wrong value is an error of its own: so many are told. */
const MOST_ERRORS = 50

/** Coerced. */
function readVariables(
  { variables }: Asked,
  { checked, operation, engine }: Reading,
): Result<Readonly<Record<string, unknown>>, GraphQLError> {
  const excess = limitVariables(variables, checked.measures.get(operation)?.variables ?? new Map())
  if (excess) return failed(excess)
  const { coerced, errors } = getVariableValues(
    engine.schema,
    operation.variableDefinitions ?? [],
    variables,
    { maxErrors: MOST_ERRORS, hideSuggestions: !engine.introspects },
  )
  return errors ? failed(...errors.map(error => coded(error, 'BAD_USER_INPUT'))) : ok(coerced)
}

function spendSchema(cost: number, engine: Engine, budget: Budget): GraphQLError | null {
  return cost === 0 ? null : spendIntrospection(budget, cost, engine.introspection().most)
}

/** What is asked again, with the same variables, is known. */
function readyOperation(asked: Asked, reading: Reading): Result<ReadyOperation, GraphQLError> {
  const { ready } = reading.engine
  const isQuery = reading.operation.operation === 'query'
  const key = isQuery ? readyKey(asked.query, asked.operationName, asked.variables) : null
  const known = key === null ? undefined : ready.get(key)
  if (known) return ok(known)
  const found = makeReady(asked, reading)
  if (found.ok && key !== null) ready.set(key, keep(found.value, reading.checked.size))
  return found
}

function makeReady(asked: Asked, reading: Reading): Result<ReadyOperation, GraphQLError> {
  const variables = readVariables(asked, reading)
  if (!variables.ok) return variables
  const { checked, operation, engine } = reading
  const terms = { schema: engine.schema, fragments: checked.fragments, variables: variables.value }
  const asksSchema = engine.introspects && /__(schema|type)\b/.test(asked.query)
  return ok({
    variables: variables.value,
    cost: estimateCost(operation, { ...terms, ...engine.cost }),
    introspection: asksSchema ? introspectionCost(operation, engine.introspection().sizes, terms) : 0,
    text: parseTextOperation(operation, engine.text.roots, { ...terms, ...engine.text }),
  })
}
