import {
  type ASTVisitor,
  type FieldNode,
  GraphQLError,
  Kind,
  Lexer,
  type SelectionSetNode,
  Source,
  TokenKind,
  type ValidationContext,
} from 'graphql'
import { failed, ok, type Result } from '../../base/result.ts'
import { limitPath, overLimit } from './budget.ts'

/** Introspection fields do not count. */
const isExempt = (node: FieldNode): boolean => /^__(schema|type)$/.test(node.name.value)

/** Validation rule for the depth of each operation (reference/graphql.md#11-limits-playground-and-introspection): root fields are level 0, fragments add none. */
export const limitDepth =
  (most: number) =>
  (context: ValidationContext): ASTVisitor => ({
    OperationDefinition(operation) {
      const found = findTooDeep(operation.selectionSet, 0, {
        most,
        context,
        above: new Set(),
        known: new Set(),
      })
      if (!found) return
      const name = operation.name?.value ?? ''
      context.reportError(
        new GraphQLError(`'${name}' exceeds maximum operation depth of ${most}`, { nodes: found }),
      )
    },
  })

interface DepthContext {
  readonly most: number
  readonly context: ValidationContext
  /** Fragments on the current path; cycles are reported by another rule. */
  readonly above: Set<string>
  /** Fragments with the levels at which they were already measured. */
  readonly known: Set<string>
}

/** The first field below the deepest allowed level. */
function findTooDeep(set: SelectionSetNode, level: number, measuring: DepthContext): FieldNode | null {
  for (const node of set.selections) {
    const found =
      node.kind === Kind.FIELD
        ? belowField(node, level, measuring)
        : node.kind === Kind.INLINE_FRAGMENT
          ? findTooDeep(node.selectionSet, level, measuring)
          : belowFragment(node.name.value, level, measuring)
    if (found) return found
  }
  return null
}

function belowField(node: FieldNode, level: number, measuring: DepthContext): FieldNode | null {
  if (isExempt(node)) return null
  if (level > measuring.most) return node
  return node.selectionSet ? findTooDeep(node.selectionSet, level + 1, measuring) : null
}

function belowFragment(name: string, level: number, measuring: DepthContext): FieldNode | null {
  const fragment = measuring.context.getFragment(name)
  const place = `${name} ${level}`
  if (!fragment || measuring.above.has(name) || measuring.known.has(place)) return null
  measuring.known.add(place)
  measuring.above.add(name)
  const found = findTooDeep(fragment.selectionSet, level, measuring)
  measuring.above.delete(name)
  return found
}

/**
 * Maximum nesting of brackets, fragments and variable values: deeper input could overflow the stack of recursive code.
 * An introspection query nests about twenty levels.
 */
export const MAX_NESTING = 100

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

/** Counts a document's tokens before it is parsed; refuses too many tokens and too deep nesting. */
export function limitTokens(text: string, most: number): Result<number, GraphQLError> {
  const lexer = new Lexer(new Source(text))
  let count = 0
  let nested = 0
  try {
    for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
      count++
      if (count > most)
        return failed(overLimit({ what: 'tokens', counted: count, limit: most, key: limitPath('tokens') }))
      if (OPENING.has(token.kind)) nested++
      else if (CLOSING.has(token.kind)) nested--
      if (nested > MAX_NESTING)
        return failed(overLimit({ what: 'nested brackets', counted: nested, limit: MAX_NESTING, key: null }))
    }
  } catch (error) {
    // The parser reports a syntax error with its position.
    if (!(error instanceof GraphQLError)) throw error
  }
  return ok(count)
}
