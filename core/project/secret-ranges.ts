import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, visit } from 'yaml'
import { once } from '../base/memo.ts'
import { findUrlPasswords, URL_PASSWORD_ENDS } from '../base/redact.ts'
import type { Path } from '../faults/diagnostic.ts'
import { type JsonSchema, readProjectSchema, resolveRef } from './grammar/project-schema.ts'
import type { SecretRange, SecretTest } from './yaml/source-file.ts'

/** A scalar that only references a variable contains no secret. */
const ONLY_A_VARIABLE = /^["']?\$\{[A-Za-z_][A-Za-z0-9_]*(:-)?\}["']?$/

const SECRET_WORD = /secret|password|passwd|token|credential|api_?key|access_?key|private_?key/i

/** True if a key's name suggests a secret. */
export const looksSecret = (key: unknown): boolean => typeof key === 'string' && SECRET_WORD.test(key)

/** The ranges of the secrets in a parsed file, to mask them before a line is quoted. */
export function secretRanges(document: Document, text: string, isSecret: SecretTest): readonly SecretRange[] {
  const ranges: SecretRange[] = []
  const anchored = anchorsOf(document)
  const seek = (node: unknown, path: Path): void => {
    if (isMap(node)) for (const pair of node.items) seek(pair.value, [...path, keyOf(pair.key)])
    else if (isSeq(node)) for (const [index, item] of node.items.entries()) seek(item, [...path, index])
    else if (isAlias(node) && isSecret(path))
      ranges.push(...(anchored.get(node.source) ?? []).flatMap(rangeOf))
    else if (isScalar(node) && isSecret(path))
      ranges.push(...rangeOf(node).filter(range => !isHarmless(node, text, range)))
  }
  seek(document.contents, [])
  return [...ranges, ...findUrlPasswords(text, ENDS_PASSWORD)]
}

/** For a file that cannot be parsed: everything from a suspicious key's colon to the end of its line. */
export const suspectRanges = (text: string): readonly SecretRange[] => [
  ...suspectValues(text),
  ...findUrlPasswords(text, ENDS_PASSWORD),
]

/** In YAML a URL may be quoted. */
const ENDS_PASSWORD: ReadonlySet<string> = new Set([...URL_PASSWORD_ENDS, '"', "'"])

const SUSPECT_WORD = /secret|password|passwd|token|credential|api_?key|access_?key|private_?key|url|replicas/i

/** For each colon after a suspicious word: the rest of that line. */
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

/** The word before a colon; a quote and spaces may lie between them. */
function wordBefore(text: string, colon: number): string {
  let end = colon
  while (end > 0 && isSpace(text[end - 1])) end--
  if (text[end - 1] === '"' || text[end - 1] === "'") end--
  let start = end
  while (start > 0 && end - start < MAX_KEY_LENGTH && isWordCharacter(text[start - 1])) start--
  return text.slice(start, end)
}

/** Longer words are not keys. */
const MAX_KEY_LENGTH = 200

const isSpace = (character = ''): boolean => /\s/.test(character)
const isWordCharacter = (character = ''): boolean => /\w/.test(character)

function behindSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && isSpace(text[at])) at++
  return at
}

/** Booleans, numbers, `embedded` and references to variables are not secrets. */
function isHarmless({ value }: Scalar, text: string, [start, end]: SecretRange): boolean {
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

/** Sections with names chosen by the user: `secret: string` declares an attribute there. */
const DECLARING = new Set<string | number | undefined>(['contentTypes', 'components', 'user', 'roles'])

/** Keys that look like secrets but are not. */
const HARMLESS = new Set<string | number>(['apiTokens', 'tokens', 'credentials'])

/** A mapping with secrets, and its keys that are not secret. `*` is any key. */
interface SecretHolder {
  readonly under: readonly string[]
  readonly open: readonly string[]
}

/** The mappings with secrets (`x-secret` in the schema). Any other key in them may be a misspelt secret. */
const secretHolders = once((): readonly SecretHolder[] => {
  const schema = readProjectSchema()
  const byPath = new Map<string, SecretHolder>()
  for (const { under, open } of holdersIn(schema, [], schema)) {
    const known = byPath.get(under.join('.'))
    byPath.set(under.join('.'), { under, open: [...(known?.open ?? []), ...open] })
  }
  return [...byPath.values()]
})

function* holdersIn(schema: JsonSchema, under: readonly string[], root: JsonSchema): Generator<SecretHolder> {
  const { anyOf = [], properties = {}, additionalProperties } = resolveRef(schema, root)
  for (const branch of anyOf) yield* holdersIn(branch, under, root)
  const keys = Object.entries(properties)
  const open = keys.filter(([, key]) => !key['x-secret']).map(([name]) => name)
  if (open.length < keys.length) yield { under, open }
  for (const [name, key] of keys) yield* holdersIn(key, [...under, name], root)
  if (typeof additionalProperties === 'object') yield* holdersIn(additionalProperties, [...under, '*'], root)
}

/** True if the value at a path of the project file is a secret: by its position or by its key's name. */
export const isProjectSecret: SecretTest = path =>
  secretHolders().some(
    ({ under, open }) => covers(under, path) && !open.includes(String(path[under.length])),
  ) ||
  (!DECLARING.has(path[0]) && path.some(key => looksSecret(key) && !HARMLESS.has(key)))

const covers = (under: readonly string[], path: Path): boolean =>
  under.length < path.length && under.every((key, index) => key === '*' || key === path[index])
