import { GraphQLError, getOperationAST, getVariableValues, type OperationDefinitionNode } from 'graphql'
import { memoize } from '../base/memo.ts'
import { isDeeperThan, isRecord, nestingLevels } from '../base/plain-data.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Model } from '../model/model.ts'
import type { Engine, PreparedOperation } from './engine.ts'
import type { GraphqlFormat } from './formats/format.ts'
import { type Budget, overLimit, spend, spendIntrospection } from './limits/budget.ts'
import { type CheckedDocument, checkDocument } from './limits/check-document.ts'
import { introspectionCost } from './limits/limit-introspection.ts'
import { MAX_NESTING } from './limits/limit-nesting.ts'
import type { VariableUse } from './limits/measure-operation.ts'
import { type OperationPlan, operationKey, withSize } from './operation-cache.ts'
import { checkArguments } from './parse/check-arguments.ts'
import { withCode } from './parse/to-graphql-error.ts'
import { parseTextOperation } from './text/text-operation.ts'
import type { OperationRequest } from './transport/parse-transport.ts'
import { documentText } from './transport/trusted-documents.ts'

/** Parses and checks an operation within the request's budget; a failure is HTTP 400 (reference/graphql.md#10-errors). */
export function prepareOperation(
  requested: OperationRequest,
  engine: Engine,
  budget: Budget,
): Result<PreparedOperation, GraphQLError> {
  const query = documentText(requested, engine.trusted)
  if (!query.ok) return query
  const checked = checkedDocument(query.value, engine)
  if (!checked.ok) return checked
  const operation = selectOperation(requested, checked.value, engine.format)
  if (!operation.ok) return operation
  const variables = declaredVariables(requested, operation.value)
  const deep = findDeepVariable(variables)
  if (deep) return failed(deep)
  const request = { ...requested, query: query.value, variables }
  const excess = spendShape(checked.value, operation.value, budget)
  if (excess) return failed(excess)
  const ready = planOperation(request, { checked: checked.value, operation: operation.value, engine })
  if (!ready.ok) return ready
  const dear = spendSchema(ready.value.introspection, engine, budget)
  if (dear) return failed(dear)
  return ok({ checked: checked.value, operation: operation.value, plan: ready.value })
}

/** Only these are read: a request may have any number of others, which GraphQL ignores. */
function declaredVariables(
  { variables }: OperationRequest,
  { variableDefinitions = [] }: OperationDefinitionNode,
): OperationRequest['variables'] {
  const names = variableDefinitions.map(({ variable }) => variable.name.value)
  return Object.fromEntries(
    names.filter(name => Object.hasOwn(variables, name)).map(name => [name, variables[name]]),
  )
}

function checkedDocument(text: string, engine: Engine): Result<CheckedDocument, GraphQLError> {
  const known = engine.documents.get(text)
  if (known) return ok(known)
  const checked = checkDocument(text, engine)
  if (checked.ok) engine.documents.set(text, checked.value)
  return checked
}

function selectOperation(
  { operationName }: OperationRequest,
  { document }: CheckedDocument,
  { errors }: GraphqlFormat,
): Result<OperationDefinitionNode, GraphQLError> {
  const operation = getOperationAST(document, operationName)
  if (!operation) return failed(unknownOperation(operationName, errors.operationCode))
  return operation.operation === 'subscription'
    ? failed(
        withCode(
          new GraphQLError('Schema is not configured for subscriptions.', { nodes: operation }),
          errors.operationCode,
        ),
      )
    : ok(operation)
}

const unknownOperation = (operationName: string | null, code: string): GraphQLError =>
  new GraphQLError(
    operationName === null
      ? 'Must provide operation name if query contains multiple operations.'
      : `Unknown operation named "${operationName}".`,
    { extensions: { code } },
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

interface PlanContext {
  readonly checked: CheckedDocument
  readonly operation: OperationDefinitionNode
  readonly engine: Engine
}

/** Maximum number of reported errors; each wrong value is one. */
const MAX_ERRORS = 50

/** Values that the errors of an operation print: an unknown key prints its whole object, which is cut only afterwards. */
const MAX_PRINTED = 2000

/** Coerces the variables to their declared types. Limits them afterwards, because default values count as well. */
function readVariables(
  { variables }: OperationRequest,
  { checked, operation, engine }: PlanContext,
): Result<Readonly<Record<string, unknown>>, GraphQLError> {
  const options = { maxErrors: maxErrorsOf(variables), hideSuggestions: !engine.introspects }
  const read = (values: OperationRequest['variables']) =>
    getVariableValues(engine.schema, operation.variableDefinitions ?? [], values, options)
  const { coerced, errors } = read(variables)
  if (errors) {
    const printed = read(hidePasswords(variables, passwordNames(engine.text.model)))
    return failed(...(printed.errors ?? errors).map(error => withCode(error, 'BAD_USER_INPUT')))
  }
  const excess = limitVariables(coerced, checked.measures.get(operation)?.variables ?? new Map())
  return excess ? failed(excess) : ok(coerced)
}

const passwordNames = memoize(({ contentTypes, components }: Model): ReadonlySet<string> => {
  const attributes = [...contentTypes.values(), ...components.values()].flatMap(each => [
    ...each.attributes.values(),
  ])
  const own = attributes.filter(each => each.kind === 'scalar' && each.type === 'password')
  return new Set(['password', 'passwordConfirmation', 'currentPassword', ...own.map(({ name }) => name)])
})

/**
 * Errors print a whole object if one of its keys is wrong. Objects print as their toJSON says, here without passwords
 * (reference/safety.md#s2-passwords).
 */
function hidePasswords<Value>(value: Value, names: ReadonlySet<string>): Value
function hidePasswords(value: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map(each => hidePasswords(each, names))
  // Files are objects of other kinds.
  if (!isRecord(value) || ![Object.prototype, null].includes(Object.getPrototypeOf(value))) return value
  const copy = Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, hidePasswords(each, names)]),
  )
  const hidden = Object.keys(copy).filter(key => names.has(key))
  // What toJSON answers is printed one level less deep.
  if (hidden.length === 0) return copy
  const shown = { ...copy, ...Object.fromEntries(hidden.map(key => [key, HIDDEN])) }
  return Object.defineProperty(copy, 'toJSON', { value: () => shown })
}

const HIDDEN = '***'

const maxErrorsOf = (variables: OperationRequest['variables']): number =>
  Math.max(1, Math.min(MAX_ERRORS, Math.floor(MAX_PRINTED / countValues(variables))))

function spendSchema(cost: number, engine: Engine, budget: Budget): GraphQLError | null {
  return cost === 0 ? null : spendIntrospection(budget, cost, engine.introspection().most)
}

/** Cached for queries; mutations are planned each time. */
function planOperation(request: OperationRequest, context: PlanContext): Result<OperationPlan, GraphQLError> {
  const { plans: ready } = context.engine
  const isQuery = context.operation.operation === 'query'
  const key = isQuery ? operationKey(request.query, request.operationName, request.variables) : null
  const known = key === null ? undefined : ready.get(key)
  if (known) return ok(known)
  const found = createPlan(request, context)
  if (found.ok && key !== null) ready.set(key, withSize(found.value, context.checked.size))
  return found
}

function createPlan(request: OperationRequest, context: PlanContext): Result<OperationPlan, GraphQLError> {
  const variables = readVariables(request, context)
  if (!variables.ok) return variables
  const { checked, operation, engine } = context
  const options = { schema: engine.schema, fragments: checked.fragments, variables: variables.value }
  const wrong = checkArguments(operation, options)
  if (wrong.length > 0)
    return failed(...wrong.slice(0, MAX_ERRORS).map(error => withCode(error, 'BAD_USER_INPUT')))
  const asksSchema = engine.introspects && /__(schema|type)\b/.test(request.query)
  return ok({
    variables: variables.value,
    introspection: asksSchema ? introspectionCost(operation, engine.introspection().sizes, options) : 0,
    text: parseTextOperation(operation, engine.text.roots, { ...options, ...engine.text }),
  })
}

/** Maximum number of values that variables insert into filters, as many as a REST query may have parameters. */
const MAX_IN_FILTERS = 1000

/** Maximum number of values that repeated uses of variables may add. */
const MAX_REPEATED = 20_000

/** The first variable whose value nests too deep. Checked before anything else walks variables. */
function findDeepVariable(input: Readonly<Record<string, unknown>>): GraphQLError | null {
  for (const [name, value] of Object.entries(input))
    if (isDeeperThan(value, MAX_NESTING))
      return overLimit({
        what: `nested values in $${name.slice(0, 80)}`,
        counted: MAX_NESTING + 1,
        limit: MAX_NESTING,
        key: null,
      })
  return null
}

/** Limits how much variables enlarge an operation: a long list may be inserted many times. */
function limitVariables(
  input: Readonly<Record<string, unknown>>,
  uses: ReadonlyMap<string, VariableUse>,
): GraphQLError | null {
  let inFilters = 0
  let repeated = 0
  for (const [name, value] of Object.entries(input)) {
    const use = uses.get(name)
    if (!use) continue
    const size = countValues(value)
    inFilters += size * use.inFilters
    repeated += size * Math.max(0, use.uses - 1)
  }
  if (inFilters > MAX_IN_FILTERS)
    return overLimit({ what: 'values in filters', counted: inFilters, limit: MAX_IN_FILTERS, key: null })
  if (repeated > MAX_REPEATED)
    return overLimit({
      what: 'values by repeated variables',
      counted: repeated,
      limit: MAX_REPEATED,
      key: null,
    })
  return null
}

/** The number of values inside one, itself included. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  for (const level of nestingLevels(value)) for (const one of level) size += Object.keys(one).length
  return size
}
