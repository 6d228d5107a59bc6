import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, visit } from 'yaml'
import type { Path } from '../faults/diagnostic.ts'
import type { SecretRange } from './source-file.ts'

/** Whether the value at a path of a file must never be shown. */
export type SecretTest = (path: Path) => boolean

/** A scalar that only names a variable gives nothing away. */
const ONLY_A_VARIABLE = /^["']?\$\{[A-Za-z_][A-Za-z0-9_]*(:-)?\}["']?$/

const SECRET_WORD = /secret|password|passwd|token|credential|api_?key|access_?key|private_?key/i

/** By the key's own name: for keys that stand where nobody foresaw a secret. */
export const namesSecret = (key: unknown): boolean => typeof key === 'string' && SECRET_WORD.test(key)

/** Where the secrets of a parsed file stand, so that they can be blotted out before a line is quoted. */
export function secretRanges(document: Document, text: string, isSecret: SecretTest): readonly SecretRange[] {
  const ranges: SecretRange[] = []
  const anchored = anchorsOf(document)
  const seek = (node: unknown, path: Path): void => {
    if (isMap(node)) for (const pair of node.items) seek(pair.value, [...path, keyOf(pair.key)])
    else if (isSeq(node)) for (const [index, item] of node.items.entries()) seek(item, [...path, index])
    else if (isAlias(node) && isSecret(path))
      ranges.push(...(anchored.get(node.source) ?? []).flatMap(rangeOf))
    else if (isScalar(node) && isSecret(path))
      ranges.push(...rangeOf(node).filter(range => !saysNothing(node, text, range)))
  }
  seek(document.contents, [])
  return [...ranges, ...lexicalRanges(text, CREDENTIALS)]
}

/** Of a file that cannot be parsed: whatever stands behind a key that sounds secret, to the end of its line. */
export const suspectRanges = (text: string): readonly SecretRange[] => [
  ...lexicalRanges(text, SUSPECT),
  ...lexicalRanges(text, CREDENTIALS),
]

const SUSPECT =
  /(?<=[\w-]*(?:secret|password|passwd|token|credential|api_?key|access_?key|private_?key|url|replicas)\w*["']?\s*:\s*)[^\s{[].*/gi

/** The password in `scheme://user:password@host`. */
const CREDENTIALS = /(?<=\w:\/\/[^\s/@:"']*:)[^\s@"']+(?=@)/g

const lexicalRanges = (text: string, pattern: RegExp): readonly SecretRange[] =>
  Array.from(text.matchAll(pattern), found => [found.index, found.index + found[0].length])

/** Switches, numbers, words of the grammar and names of variables give nothing away. */
function saysNothing({ value }: Scalar, text: string, [start, end]: SecretRange): boolean {
  const isText = typeof value === 'string' && value !== '' && value !== 'embedded'
  return !isText || ONLY_A_VARIABLE.test(text.slice(start, end))
}

const rangeOf = (node: Node): readonly SecretRange[] => (node.range ? [[node.range[0], node.range[1]]] : [])

const keyOf = (key: unknown): string => String(isScalar(key) ? key.value : key)

function anchorsOf(document: Document): ReadonlyMap<string, readonly Scalar[]> {
  const anchored = new Map<string, Scalar[]>()
  visit(document, {
    Scalar(_key, node) {
      if (node.anchor !== undefined) anchored.set(node.anchor, [...(anchored.get(node.anchor) ?? []), node])
    },
  })
  return anchored
}
