import type { FieldNode, OperationDefinitionNode } from 'graphql'
import type { Caller, Grants } from '../../access/caller.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { nullIfRefused } from '../../faults/fault.ts'
import { graphqlTypeName } from '../../model/names.ts'
import { type AnswerLayout, isCovered } from '../../plan/layout.ts'
import type { Query, RestrictedQuery } from '../../query/query.ts'
import { type CollectedFields, collectFields, fieldsBelow, fieldsNamed } from '../parse/collect-fields.ts'
import { areGenerated, fieldMark } from '../parse/field-marks.ts'
import { fieldArguments, type OperationContext } from '../parse/operation-context.ts'
import { parseRead } from '../parse/parse-read.ts'
import type { RootField } from '../sdl/root-fields.ts'
import { type CustomField, type PlaceSteps, toPlaceSteps } from './custom-field.ts'
import { CONNECTION_LEVELS, layOutDocuments } from './parse-layout.ts'

/** An operation whose documents are answered as text that PostgreSQL builds. */
export interface TextOperation {
  readonly roots: readonly TextRoot[]
  /** Restricted queries by grants; null: these callers cannot be answered as text. */
  readonly restricted: WeakMap<Grants, readonly RestrictedQuery[] | null>
}

export interface TextRoot {
  readonly key: string
  readonly query: Query
  readonly layout: AnswerLayout
  /** The object around the documents; null: the field answers the documents themselves. */
  readonly around: RootWrapper | null
  /** Matches a null in a non-null field; null: there are no non-null fields. */
  readonly nullPattern: RegExp | null
  /** The custom fields in the text. */
  readonly customFields: readonly CustomField[]
  readonly steps: PlaceSteps
}

export interface RootWrapper {
  readonly typeName: string
  /** The response key of the documents. */
  readonly key: string
  /** The fields of the wrapper: the documents and the counts. */
  readonly fields: CollectedFields
}

/** Plans a query as text; null if part of it must be resolved field by field. */
export function parseTextOperation(
  operation: OperationDefinitionNode,
  roots: ReadonlyMap<string, RootField>,
  context: OperationContext,
): TextOperation | null {
  const found: TextRoot[] = []
  for (const [key, nodes] of collectFields([operation.selectionSet], 'Query', context)) {
    const field = roots.get(`Query.${nodes[0].name.value}`)
    const isGenerated = fieldMark(context.schema, 'Query', nodes[0].name.value) === undefined
    const root = field && isGenerated ? parseRoot(key, nodes, field, context) : null
    if (!root) return null
    found.push(root)
  }
  return { roots: found, restricted: new WeakMap() }
}

type Nodes = readonly [FieldNode, ...FieldNode[]]

function parseRoot(key: string, nodes: Nodes, root: RootField, context: OperationContext): TextRoot | null {
  const documents = parseWrapper(nodes, root, context)
  if (!documents) return null
  const nonNullKeys = new Set<string>()
  const customFields: CustomField[] = []
  const laid = layOutDocuments(root.type, documents, { context, nonNullKeys, customFields })
  if (!laid) return null
  const args = fieldArguments(nodes[0], 'Query', context)
  const query = nullIfRefused(() => parseRead({ root, nodes, args }, context))
  if (!query) return null
  return {
    key,
    query,
    layout: { key: JSON.stringify(laid, keyPart), fields: laid },
    around: documents.around,
    nullPattern: toNullPattern(nonNullKeys),
    customFields,
    steps: toPlaceSteps(laid),
  }
}

/** The nodes of the documents of a root field; null if its wrapper has two keys for them or none, or a customized field. */
function parseWrapper(nodes: Nodes, { type, use }: RootField, context: OperationContext) {
  const { around } = context.format.shapeOf(graphqlTypeName(type), use)
  if (!around) return { around: null, nodes, above: [], levelsUp: 0 }
  const fields = fieldsBelow(nodes, around.type, context)
  const [rows, ...others] = fieldsNamed(fields, around.field)
  if (!rows || others.length > 0 || !isGeneratedWrapper(around.type, fields, context)) return null
  const [key, below] = rows
  const above: readonly (readonly [string, string])[] = [[key, around.field]]
  const wrapper = { typeName: around.type, key, fields }
  return { around: wrapper, nodes: below, above, levelsUp: CONNECTION_LEVELS }
}

/** Only a property can match: JSON escapes quotation marks in strings. One pattern for all keys is the fastest search. */
const toNullPattern = (promised: ReadonlySet<string>): RegExp | null =>
  promised.size === 0 ? null : new RegExp(`"(?:${[...promised].join('|')})":null`)

/** True if no field of the wrapper, counts included, is customized. */
function isGeneratedWrapper(typeName: string, fields: CollectedFields, context: OperationContext): boolean {
  if (!areGenerated(typeName, fields, context)) return false
  if (context.format.pageField === 'pageInfo')
    return fieldsNamed(fields, 'pageInfo').every(([, nodes]) =>
      areGenerated('Pagination', fieldsBelow(nodes, 'Pagination', context), context),
    )
  return fieldsNamed(fields, 'meta').every(([, nodes]) => {
    const meta = fieldsBelow(nodes, 'ResponseCollectionMeta', context)
    return (
      areGenerated('ResponseCollectionMeta', meta, context) &&
      fieldsNamed(meta, 'pagination').every(([, below]) =>
        areGenerated('Pagination', fieldsBelow(below, 'Pagination', context), context),
      )
    )
  })
}

/** Attributes appear by name in the key; their types are part of the query. */
function keyPart(name: string, value: unknown): unknown {
  if (name === 'attribute') return nameOf(value)
  return name === 'row' && Array.isArray(value) ? value.map(nameOf) : value
}

const nameOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'name' in value ? value.name : value

/** Restricts all root queries to the caller; null if a field is refused, so that graphql-js reports it. */
export function restrictRoots(
  { roots, restricted: seen }: TextOperation,
  caller: Caller,
): readonly RestrictedQuery[] | null {
  if (caller.user !== null) return restrictAll(roots, caller)
  const before = seen.get(caller.grants)
  if (before !== undefined) return before
  const restricted = restrictAll(roots, caller)
  seen.set(caller.grants, restricted)
  return restricted
}

function restrictAll(roots: readonly TextRoot[], caller: Caller): readonly RestrictedQuery[] | null {
  const all: RestrictedQuery[] = []
  for (const { query, layout } of roots) {
    const restricted = nullIfRefused(() => restrict(query, caller))
    if (!restricted || !isCovered(restricted.selection, layout.fields)) return null
    all.push(restricted)
  }
  return all
}
