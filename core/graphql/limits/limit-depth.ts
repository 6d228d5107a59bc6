import {
  type ASTVisitor,
  type FieldNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql'

/** Fields of introspection do not count. */
const isExempt = (node: FieldNode): boolean => /^__(schema|type)$/.test(node.name.value)

/** contract/graphql.md 11: a root field is level 0, every field adds one, fragments neither hide nor add. Each operation counts. */
export const limitDepth =
  (most: number) =>
  (context: ValidationContext): ASTVisitor => ({
    OperationDefinition(operation) {
      const found = tooDeep(operation.selectionSet, 0, { most, context, above: new Set(), known: new Set() })
      if (!found) return
      const name = operation.name?.value ?? ''
      context.reportError(
        new GraphQLError(`'${name}' exceeds maximum operation depth of ${most}`, { nodes: found }),
      )
    },
  })

interface Measuring {
  readonly most: number
  readonly context: ValidationContext
  /** The fragments that are being measured: another rule tells of cycles. */
  readonly above: Set<string>
  /** Fragments that are shallow enough from a level on: each is measured once. */
  readonly known: Set<string>
}

/** The first field below the deepest level, if there is one. */
function tooDeep(set: SelectionSetNode, level: number, measuring: Measuring): FieldNode | null {
  for (const node of set.selections) {
    const found =
      node.kind === Kind.FIELD
        ? belowField(node, level, measuring)
        : node.kind === Kind.INLINE_FRAGMENT
          ? tooDeep(node.selectionSet, level, measuring)
          : belowFragment(node.name.value, level, measuring)
    if (found) return found
  }
  return null
}

function belowField(node: FieldNode, level: number, measuring: Measuring): FieldNode | null {
  if (isExempt(node)) return null
  if (level > measuring.most) return node
  return node.selectionSet ? tooDeep(node.selectionSet, level + 1, measuring) : null
}

function belowFragment(name: string, level: number, measuring: Measuring): FieldNode | null {
  const fragment = measuring.context.getFragment(name)
  const place = `${name} ${level}`
  if (!fragment || measuring.above.has(name) || measuring.known.has(place)) return null
  measuring.known.add(place)
  measuring.above.add(name)
  const found = tooDeep(fragment.selectionSet, level, measuring)
  measuring.above.delete(name)
  return found
}
