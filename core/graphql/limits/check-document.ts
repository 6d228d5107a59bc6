import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  NoFragmentCyclesRule,
  NoSchemaIntrospectionCustomRule,
  NoUnusedFragmentsRule,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  Token,
  TokenKind,
  validate,
  visit,
} from 'graphql'
import { failed, ok, type Result } from '../../base/result.ts'
import { memoryBytes } from '../../base/text.ts'
import type { GraphqlSettings } from '../../project/settings/settings.ts'
import { withCode } from '../parse/to-graphql-error.ts'
import { overLimit } from './budget.ts'
import { limitDepth, limitTokens } from './limit-nesting.ts'
import { type FieldArguments, type Measure, measureOperation } from './measure-operation.ts'

/** A document that passed all checks of its text. */
export interface CheckedDocument {
  readonly document: DocumentNode
  readonly tokens: number
  /** Estimated bytes of memory. */
  readonly size: number
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  readonly measures: ReadonlyMap<OperationDefinitionNode, Measure>
}

interface CheckOptions {
  readonly schema: GraphQLSchema
  readonly config: Pick<GraphqlSettings['config'], 'depthLimit' | 'limits'>
  /** Introspection is allowed. */
  readonly introspects: boolean
}

/**
 * Checks a document: number of tokens, syntax, shape, then validity against the schema; a failure is HTTP 400
 * (reference/graphql.md#10-errors). Cheap checks come first, so that expensive rules run only on bounded input.
 */
export function checkDocument(text: string, options: CheckOptions): Result<CheckedDocument, GraphQLError> {
  const tokens = limitTokens(text, options.config.limits.tokens)
  if (!tokens.ok) return tokens
  const document = parseText(text)
  if (!document.ok) return document
  const shape = checkShape(document.value, options)
  if (!shape.ok) return shape
  const invalid = validate(options.schema, document.value, options.introspects ? RULES : HIDING_RULES, {
    hideSuggestions: !options.introspects,
  })
  if (invalid.length > 0) return failed(...invalid.map(error => withCode(error, 'GRAPHQL_VALIDATION_FAILED')))
  stripTokens(document.value)
  return ok({
    ...shape.value,
    document: document.value,
    tokens: tokens.value,
    size: estimateSize(tokens.value) + memoryBytes(text),
  })
}

/** Upper estimate: every token is a field, the largest node. */
const estimateSize = (tokens: number): number => 1000 + 400 * tokens

const RULES = specifiedRules
const HIDING_RULES = [...specifiedRules, NoSchemaIntrospectionCustomRule]

function parseText(text: string): Result<DocumentNode, GraphQLError> {
  try {
    return ok(parse(text))
  } catch (error) {
    if (error instanceof GraphQLError) return failed(withCode(error, 'GRAPHQL_PARSE_FAILED'))
    throw error
  }
}

/** Maximum number of definitions, which also bounds the nesting of fragments. */
const MAX_DEFINITIONS = 1000

/** Maximum growth of a document by expanding its fragments. */
const FRAGMENT_GROWTH = 4

function checkShape(
  document: DocumentNode,
  { schema, config }: CheckOptions,
): Result<Pick<CheckedDocument, 'fragments' | 'measures'>, GraphQLError> {
  const { definitions } = document
  if (definitions.length > MAX_DEFINITIONS)
    return failed(
      overLimit({ what: 'definitions', counted: definitions.length, limit: MAX_DEFINITIONS, key: null }),
    )
  const endless = validate(schema, document, [
    NoFragmentCyclesRule,
    // Unused fragments would be validated, but are not measured.
    NoUnusedFragmentsRule,
    limitDepth(config.depthLimit),
  ])
  if (endless.length > 0) return failed(...endless.map(error => withCode(error, 'GRAPHQL_VALIDATION_FAILED')))
  const fragments = new Map(definitions.flatMap(node => (isFragment(node) ? [[node.name.value, node]] : [])))
  const measures = measureAll(
    definitions.filter(isOperation),
    fragments,
    config.limits.tokens * FRAGMENT_GROWTH,
  )
  return measures.ok ? ok({ fragments: Object.fromEntries(fragments), measures: measures.value }) : measures
}

type Definition = DocumentNode['definitions'][number]

const isFragment = (node: Definition): node is FragmentDefinitionNode =>
  node.kind === Kind.FRAGMENT_DEFINITION

const isOperation = (node: Definition): node is OperationDefinitionNode =>
  node.kind === Kind.OPERATION_DEFINITION

function measureAll(
  operations: readonly OperationDefinitionNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  most: number,
): Result<CheckedDocument['measures'], GraphQLError> {
  const measures = new Map<OperationDefinitionNode, Measure>()
  const options = {
    fragments,
    most,
    allowance: { left: most },
    fieldArguments: new Map<FieldNode, FieldArguments>(),
  }
  for (const operation of operations) {
    const measure = measureOperation(operation, options)
    if ('what' in measure) return failed(overLimit(measure))
    measures.set(operation, measure)
  }
  return ok(measures)
}

/** Placeholder for the tokens of all documents. */
const SHARED_TOKEN = new Token(TokenKind.SOF, 0, 0, 0, 0)

/**
 * Releases the tokens of a parsed document, a quarter of its memory. Errors need only the numeric positions
 * (graphql-js, Location).
 */
function stripTokens(document: DocumentNode): void {
  visit(document, {
    enter({ loc }) {
      if (loc) Object.assign(loc, { startToken: SHARED_TOKEN, endToken: SHARED_TOKEN })
    },
  })
}
