import { GraphQLError, Lexer, Source, TokenKind } from 'graphql'
import { failed, ok, type Result } from '../../base/result.ts'
import { keyOf, overLimit } from './limit-error.ts'

/**
 * How deep brackets may lie in one another, fragments in fragments, and values in variables: beyond it whatever
 * walks them would run out of stack. An introspection query has some twenty.
 */
export const MOST_NESTED = 100

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
        return failed(overLimit({ what: 'tokens', counted: count, most, key: keyOf('tokens') }))
      if (OPENING.has(token.kind)) nested++
      else if (CLOSING.has(token.kind)) nested--
      if (nested > MOST_NESTED)
        return failed(overLimit({ what: 'nested brackets', counted: nested, most: MOST_NESTED, key: null }))
    }
  } catch (error) {
    // What is no token the parser tells in its own words, with all that comes before it.
    if (!(error instanceof GraphQLError)) throw error
  }
  return ok(count)
}
