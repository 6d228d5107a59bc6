import { type Given, NOTHING } from './literal-value.ts'
import { isSign, parseGiven, type Tokens } from './parse-literal.ts'
import { tokensOf } from './tokens.ts'

/**
 * What a module of JavaScript or TypeScript exports, read and not run: an object, or what a function answers that
 * takes `{ env }`. An empty mapping where the module exports neither.
 */
export function readExported(source: string): Given {
  const tokens: Tokens = { source, all: tokensOf(source) }
  const start = exportOf(tokens)
  return start === undefined ? NOTHING : valueAt(tokens, start)
}

/** The token behind `module.exports =`, `exports.default =` or `export default`. */
function exportOf({ all }: Tokens): number | undefined {
  for (let index = all.length - 1; index >= 0; index--) {
    const words = all.slice(index, index + 4).map(({ kind, text }) => (kind === 'text' ? '' : text))
    if (words.join('') === 'module.exports=') return index + 4
    if (words.join('') === 'exports.default=') return index + 4
    if (words[0] === 'export' && words[1] === 'default') return index + 2
  }
  return undefined
}

/** How often one name may stand for another. */
const LONGEST_WAY = 5

function valueAt(tokens: Tokens, start: number, way = 0): Given {
  const body = bodyOf(tokens, start)
  if (body !== undefined) return valueAt(tokens, body, way + 1)
  const named = way < LONGEST_WAY ? declarationOf(tokens, start) : undefined
  return named === undefined ? parseGiven(tokens, start).value : valueAt(tokens, named, way + 1)
}

/** Where `const name = ` goes on, for a lone name. */
function declarationOf({ all }: Tokens, start: number): number | undefined {
  const name = all[start]
  const after = all[start + 1]
  if (name?.kind !== 'word' || (after !== undefined && !isSign(after, ';') && after.kind === 'sign'))
    return undefined
  const declared = all.findIndex(
    ({ kind, text }, index) =>
      kind === 'word' && ['const', 'let', 'var'].includes(text) && all[index + 1]?.text === name.text,
  )
  if (declared < 0) return undefined
  const equals = all.findIndex((token, index) => index > declared && isSign(token, '='))
  return equals < 0 ? undefined : equals + 1
}

/** Where the value of a function begins: behind its arrow, or behind the last `return` of its block. */
function bodyOf(tokens: Tokens, start: number): number | undefined {
  const { all } = tokens
  const first = all[start]?.text === 'async' ? start + 1 : start
  if (all[first]?.text === 'function') {
    const block = all.findIndex((token, index) => index > first && isSign(token, ')'))
    return block < 0 ? undefined : lastReturn(tokens, block + 1)
  }
  const arrow = arrowAfter(tokens, first)
  if (arrow === undefined) return undefined
  return isSign(all[arrow + 1], '{') ? lastReturn(tokens, arrow + 1) : arrow + 1
}

/** The arrow behind `name`, `(...)` or `(...): Type`. */
function arrowAfter({ all }: Tokens, start: number): number | undefined {
  if (all[start]?.kind === 'word' && isSign(all[start + 1], '=>')) return start + 1
  if (!isSign(all[start], '(')) return undefined
  let depth = 0
  for (let index = start; index < all.length; index++) {
    if (isSign(all[index], '(', '{', '[')) depth++
    if (isSign(all[index], ')', '}', ']')) depth--
    if (depth === 0 && isSign(all[index], '=>')) return index
    if (depth === 0 && isSign(all[index], ';', ',')) return undefined
  }
  return undefined
}

function lastReturn({ all }: Tokens, start: number): number | undefined {
  let depth = 0
  let found: number | undefined
  for (let index = start; index < all.length; index++) {
    if (isSign(all[index], '{')) depth++
    if (isSign(all[index], '}')) depth--
    if (depth === 1 && all[index]?.kind === 'word' && all[index]?.text === 'return') found = index + 1
    if (depth === 0 && index > start) break
  }
  return found
}
