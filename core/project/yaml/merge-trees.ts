import type { Diagnostic, Path } from '../../faults/diagnostic.ts'
import { placeAt } from './source-file.ts'
import type { YamlEntry, YamlMap, YamlNode } from './yaml-tree.ts'

/** Mappings that several files may extend. Everything else must be in one file. */
const JOINED = new Set([
  '',
  ...[
    'server',
    'database',
    'i18n',
    'rest',
    'graphql',
    'cache',
    'components',
    'contentTypes',
    'user',
    'roles',
  ],
  ...['apiTokens', 'routesConfig', 'resolversConfig', 'auth', 'upload'],
  ...['graphql.config', 'graphql.shadowCRUD', 'user.attributes'],
])

/** Merges the trees of a project's files. A name defined twice is reported with both locations; the first one is kept. */
export function mergeTrees(trees: readonly YamlNode[]): {
  tree: YamlNode | undefined
  faults: readonly Diagnostic[]
} {
  const faults: Diagnostic[] = []
  const [first, ...others] = trees
  if (first === undefined) return { tree: undefined, faults }
  const tree = others.reduce((merged, other) => addFile(merged, other, faults), first)
  return { tree, faults }
}

function addFile(merged: YamlNode, other: YamlNode, faults: Diagnostic[]): YamlNode {
  if (other.kind === 'map') return mergeNodes(merged, withoutInclude(other), { path: [], faults })
  if (!isEmpty(other)) {
    const message = 'an included file is a mapping, with the keys of the project file'
    faults.push({ code: 'wrong-type', message, place: placeAt(other.mark), path: [] })
  }
  return merged
}

/** `include` of an included file was checked when it was followed; the project file's own is checked by the schema. */
const withoutInclude = (map: YamlMap): YamlMap => ({
  ...map,
  entries: new Map(Array.from(map.entries).filter(([name]) => name !== 'include')),
})

/** Replaces the values that another tree has. */
export function overrideTree(tree: YamlNode, other: YamlNode): YamlNode {
  if (other.kind !== 'map') return other
  if (tree.kind !== 'map') return isEmpty(tree) ? other : tree
  const entries = new Map(tree.entries)
  for (const [name, { key, value }] of other.entries) {
    const before = entries.get(name)
    entries.set(name, { key, value: before ? overrideTree(before.value, value) : value })
  }
  return { ...tree, entries }
}

interface Merge {
  readonly path: Path
  readonly faults: Diagnostic[]
}

function mergeNodes(first: YamlNode, second: YamlNode, merge: Merge): YamlNode {
  if (isEmpty(second)) return first
  if (isEmpty(first)) return second
  if (first.kind !== 'map' || second.kind !== 'map') return first
  return mergeMaps(first, second, merge)
}

const isEmpty = (node: YamlNode): boolean => node.kind === 'scalar' && node.value === null

function mergeMaps(first: YamlMap, second: YamlMap, { path, faults }: Merge): YamlMap {
  const entries = new Map(first.entries)
  for (const [name, entry] of second.entries) {
    const before = entries.get(name)
    const here = [...path, name]
    if (before === undefined) entries.set(name, entry)
    else if (isJoined(here, before, entry)) {
      entries.set(name, {
        key: before.key,
        value: mergeNodes(before.value, entry.value, { path: here, faults }),
      })
    } else faults.push(definedTwice(here, before, entry))
  }
  return { ...first, entries }
}

const isJoined = (path: Path, ...entries: readonly YamlEntry[]): boolean =>
  JOINED.has(path.join('.')) && entries.every(({ value }) => value.kind === 'map' || isEmpty(value))

const definedTwice = (path: Path, first: YamlEntry, second: YamlEntry): Diagnostic => ({
  code: 'duplicate-name',
  message: `\`${path.join('.')}\` is defined twice`,
  place: placeAt(second.key),
  path,
  related: { place: placeAt(first.key), message: 'it is defined here, too' },
})
