import type { Path } from '../../faults/diagnostic.ts'
import type { Mark } from './source-file.ts'

/** The tree of a YAML file with the position of every key and value; aliases and merge keys are resolved. */
export type YamlNode = YamlScalar | YamlList | YamlMap

export interface YamlScalar {
  readonly kind: 'scalar'
  readonly mark: Mark
  readonly value: null | boolean | number | string
  /** The environment variables in the value: such a value is never printed. */
  readonly variables: readonly string[]
  /** A fault was already reported here; the value is a placeholder. */
  readonly broken: boolean
}

export interface YamlList {
  readonly kind: 'list'
  readonly mark: Mark
  readonly items: readonly YamlNode[]
}

export interface YamlMap {
  readonly kind: 'map'
  readonly mark: Mark
  readonly entries: ReadonlyMap<string, YamlEntry>
}

export interface YamlEntry {
  readonly key: Mark
  readonly value: YamlNode
}

/** The deepest node that a path reaches. */
export interface LocatedNode {
  readonly node: YamlNode
  /** The position of the last key found; of the value itself in lists and at the top. */
  readonly key: Mark
  /** The whole path was found. */
  readonly exact: boolean
}

/** Follows a path as far as it exists. In a list, a text step finds the item with this value or `name`: `[find]`, `[{ name: log }]`. */
export function locate(root: YamlNode, path: Path): LocatedNode {
  let spot: LocatedNode = { node: root, key: root.mark, exact: true }
  for (const step of path) {
    const next = descend(spot.node, step)
    if (next === undefined) return { ...spot, exact: false }
    spot = { node: next.value, key: next.key, exact: true }
  }
  return spot
}

function descend(node: YamlNode, step: string | number): YamlEntry | undefined {
  if (node.kind === 'map') return node.entries.get(String(step))
  if (node.kind === 'scalar') return undefined
  const item = typeof step === 'number' ? node.items[step] : node.items.find(each => wordOf(each) === step)
  return item && { key: item.mark, value: item }
}

/** The text that identifies an item of a list. */
function wordOf(item: YamlNode): unknown {
  if (item.kind === 'scalar') return item.value
  if (item.kind === 'list') return undefined
  const named = item.entries.get('name') ?? item.entries.get('value') ?? item.entries.get('code')
  return named?.value.kind === 'scalar' ? named.value.value : undefined
}

/** Converts a node to a plain value. Keys that could change a prototype were refused when the file was read. */
export function toValue(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'list') return node.items.map(toValue)
  return Object.fromEntries(Array.from(node.entries, ([key, { value }]) => [key, toValue(value)]))
}
