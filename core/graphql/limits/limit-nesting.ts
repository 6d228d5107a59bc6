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

/** Fields of introspection do not count. */
const isExempt = (node: FieldNode): boolean => /^__(schema|type)$/.test(node.name.value)

/** contract/graphql.md 11: a root field is level 0, every field adds one, fragments neither hide nor add. Each operation counts. */
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
  /** The fragments that are being measured: another rule tells of cycles. */
  readonly above: Set<string>
  /** Fragments that are shallow enough from a level on: each is measured once. */
  readonly known: Set<string>
}

/** The first field below the deepest level, if there is one. */
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
 * How deep brackets may lie in one another, fragments in fragments, and values in variables: beyond it whatever
 * walks them would run out of stack. An introspection query has some twenty.
 */
export const MAX_NESTING = 100

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

/** The number of a document's tokens, before anything is made of them: refused where they are too many or nest too deep. */
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
    // What is no token the parser tells in its own words, with all that comes before it.
    if (!(error instanceof GraphQLError)) throw error
  }
  return ok(count)
}
