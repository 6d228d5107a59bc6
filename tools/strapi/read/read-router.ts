import { type GivenMapping, isMapping } from './literal-value.ts'
import { isSign, parseGiven, type Tokens } from './parse-literal.ts'
import { tokensOf } from './tokens.ts'

/** What a project says of the generated routes of a content-type: `createCoreRouter(uid, options)`. */
export interface StrapiRouter {
  readonly uid: string
  readonly options: GivenMapping
}

/** The router that a module makes with options that can be read; undefined where it makes none. */
export function readRouter(source: string): StrapiRouter | undefined {
  const tokens: Tokens = { source, all: tokensOf(source) }
  const { all } = tokens
  // The last one: the first is where the name is imported.
  const called = all.findLastIndex(({ kind, text }) => kind === 'word' && text === 'createCoreRouter')
  const opening = all.findIndex((token, index) => index > called && isSign(token, '('))
  const uid = all[opening + 1]
  if (called < 0 || opening < 0 || uid?.kind !== 'text' || !isSign(all[opening + 2], ',')) return undefined
  const { value } = parseGiven(tokens, opening + 3)
  return isMapping(value) ? { uid: uid.text, options: value } : undefined
}
