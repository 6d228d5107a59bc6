import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  isAbstractType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'

/** The schema, fragments and variables of an operation. */
export interface CollectOptions {
  readonly schema: GraphQLSchema
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  /** Coerced variables. */
  readonly variables: Readonly<Record<string, unknown>>
}

/** Fields of one type by response key, in order. The nodes of one key form one field with merged selections. */
export type CollectedFields = ReadonlyMap<string, readonly [FieldNode, ...FieldNode[]]>

/** The GraphQL specification's CollectFields (6.3.2) for rows of one object type. */
export function collectFields(
  sets: readonly (SelectionSetNode | undefined)[],
  typeName: string,
  options: CollectOptions,
): CollectedFields {
  const fields = new Map<string, [FieldNode, ...FieldNode[]]>()
  /** Each fragment is collected once, so that nested spreads do not multiply. */
  const visited = new Set<string>()
  for (const set of sets) for (const node of set?.selections ?? []) visit(node)
  return fields

  function visit(node: SelectionNode): void {
    if (!isIncluded(node, options)) return
    if (node.kind === Kind.FIELD) {
      const key = (node.alias ?? node.name).value
      const known = fields.get(key)
      if (known) known.push(node)
      else fields.set(key, [node])
      return
    }
    if (node.kind === Kind.FRAGMENT_SPREAD) {
      if (visited.has(node.name.value)) return
      visited.add(node.name.value)
    }
    const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : options.fragments[node.name.value]
    if (!fragment || !applies(fragment.typeCondition?.name.value, typeName, options)) return
    for (const inner of fragment.selectionSet.selections) visit(inner)
  }
}

/** The fields below a field. */
export const fieldsBelow = (
  nodes: readonly FieldNode[],
  typeName: string,
  options: CollectOptions,
): CollectedFields =>
  collectFields(
    nodes.map(({ selectionSet }) => selectionSet),
    typeName,
    options,
  )

/** All fields with a name: pairs of response key and nodes. */
export const fieldsNamed = (
  fields: CollectedFields,
  name: string,
): readonly (readonly [string, readonly FieldNode[]])[] =>
  [...fields].filter(([, [node]]) => node.name.value === name)

/** False if `@skip` or `@include` excludes the node. Throws a GraphQLError if their argument is a null variable. */
export const isIncluded = (node: SelectionNode, { variables }: CollectOptions): boolean =>
  getDirectiveValues(GraphQLSkipDirective, node, variables)?.if !== true &&
  getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if !== false

function applies(condition: string | undefined, typeName: string, { schema }: CollectOptions): boolean {
  if (condition === undefined || condition === typeName) return true
  const wanted = schema.getType(condition)
  const type = schema.getType(typeName)
  return isAbstractType(wanted) && isObjectType(type) && schema.isSubType(wanted, type)
}
