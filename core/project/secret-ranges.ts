import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, visit } from 'yaml'
import { findUrlPasswords, URL_PASSWORD_ENDS } from '../base/redact.ts'
import type { Path } from '../faults/diagnostic.ts'
import type { SecretRange } from './yaml/source-file.ts'

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
  return [...ranges, ...findUrlPasswords(text, ENDS_PASSWORD)]
}

/** Of a file that cannot be parsed: whatever stands behind a key that sounds secret, to the end of its line. */
export const suspectRanges = (text: string): readonly SecretRange[] => [
  ...suspectValues(text),
  ...findUrlPasswords(text, ENDS_PASSWORD),
]

/** In YAML an address may stand in quotes. */
const ENDS_PASSWORD: ReadonlySet<string> = new Set([...URL_PASSWORD_ENDS, '"', "'"])

const SUSPECT_WORD = /secret|password|passwd|token|credential|api_?key|access_?key|private_?key|url|replicas/i

/** For each colon behind a word that sounds secret: from what follows it to the end of that line. */
function suspectValues(text: string): readonly SecretRange[] {
  const found: SecretRange[] = []
  let from = 0
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', Math.max(from, colon + 1))) {
    if (!SUSPECT_WORD.test(wordBefore(text, colon))) continue
    const start = behindSpace(text, colon + 1)
    if (start >= text.length || text[start] === '{' || text[start] === '[') continue
    const end = text.indexOf('\n', start)
    from = end < 0 ? text.length : end
    found.push([start, from])
  }
  return found
}

/** The letters, digits and underscores of a key, between which and the colon a quote and spaces may stand. */
function wordBefore(text: string, colon: number): string {
  let end = colon
  while (end > 0 && isSpace(text[end - 1])) end--
  if (text[end - 1] === '"' || text[end - 1] === "'") end--
  let start = end
  while (start > 0 && end - start < LONGEST_KEY && isWordCharacter(text[start - 1])) start--
  return text.slice(start, end)
}

/** Longer words are no keys. */
const LONGEST_KEY = 200

const isSpace = (character = ''): boolean => /\s/.test(character)
const isWordCharacter = (character = ''): boolean => /\w/.test(character)

function behindSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && isSpace(text[at])) at++
  return at
}

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
