import {
  type ArgumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql'
import { addAll } from '../../base/plain-data.ts'
import type { Excess } from './budget.ts'

/** The size of an operation with fragments expanded and equal fields merged. */
export interface Measure {
  readonly aliases: number
  readonly rootFields: number
  /** How often each variable is used. */
  readonly variables: ReadonlyMap<string, VariableUse>
}

export interface VariableUse {
  readonly uses: number
  /** The uses inside filters. */
  readonly inFilters: number
}

export interface MeasureOptions {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** The remaining number of fields, fragments and argument values for all operations of the document. */
  readonly allowance: { left: number }
  /** The initial allowance. */
  readonly most: number
  /** Arguments by field, read once however often its fragment is spread. */
  readonly fieldArguments: Map<FieldNode, FieldArguments>
}

export interface FieldArguments {
  readonly size: number
  readonly variables: readonly { readonly name: string; readonly inFilter: boolean }[]
}

/**
 * Maximum selections of one response key. Validation compares them in pairs: without a limit a document of 5,000 tokens
 * takes seconds.
 */
const MAX_PER_KEY = 100

/** Measures an operation in the order of execution. Requires a document without fragment cycles; stops at the first excess. */
export function measureOperation(
  operation: OperationDefinitionNode,
  options: MeasureOptions,
): Measure | Excess {
  const walk: Walk = { ...options, aliases: 0, rootFields: 0, variables: new Map() }
  const excess = measureLevel([operation.selectionSet], true, walk)
  return excess ?? { aliases: walk.aliases, rootFields: walk.rootFields, variables: walk.variables }
}

interface Walk extends MeasureOptions {
  aliases: number
  rootFields: number
  readonly variables: Map<string, { uses: number; inFilters: number }>
}

function measureLevel(sets: readonly SelectionSetNode[], isRoot: boolean, walk: Walk): Excess | null {
  const places = groupByKey(sets, walk)
  if ('what' in places) return places
  for (const nodes of places.values()) {
    const excess = measureField(nodes, isRoot, walk)
    if (excess) return excess
  }
  return null
}

function measureField(nodes: readonly FieldNode[], isRoot: boolean, walk: Walk): Excess | null {
  if (isRoot) walk.rootFields++
  const below: SelectionSetNode[] = []
  let isAliased = false
  for (const node of nodes) {
    isAliased ||= node.alias !== undefined
    countVariables(argumentsOf(node, walk), walk)
    if (node.selectionSet) below.push(node.selectionSet)
  }
  if (isAliased) walk.aliases++
  return below.length > 0 ? measureLevel(below, false, walk) : null
}

/** Groups fields by response key for all fragment types; each fragment once, as in the specification's CollectFields. */
function groupByKey(sets: readonly SelectionSetNode[], walk: Walk): Map<string, FieldNode[]> | Excess {
  const places = new Map<string, FieldNode[]>()
  const known = new Set<string>()
  const waiting: SelectionNode[] = sets.flatMap(({ selections }) => selections)
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    walk.allowance.left -= node.kind === Kind.FIELD ? 1 + argumentsOf(node, walk).size : 1
    if (walk.allowance.left < 0) return tooMuch(node, walk)
    if (node.kind !== Kind.FIELD) {
      addAll(waiting, selectionsOf(node, known, walk))
      continue
    }
    const key = (node.alias ?? node.name).value
    const place = places.get(key)
    if (!place) places.set(key, [node])
    else if (place.push(node) > MAX_PER_KEY) return tooOften(key, node)
  }
  return places
}

function selectionsOf(
  node: Exclude<SelectionNode, FieldNode>,
  known: Set<string>,
  { fragments }: Walk,
): readonly SelectionNode[] {
  if (node.kind === Kind.INLINE_FRAGMENT) return node.selectionSet.selections
  if (known.has(node.name.value)) return []
  known.add(node.name.value)
  return fragments.get(node.name.value)?.selectionSet.selections ?? []
}

const tooMuch = (node: SelectionNode, { most }: Walk): Excess => ({
  what: 'fields, fragments and arguments once fragments are written out',
  counted: most + 1,
  limit: most,
  key: null,
  node,
})

const tooOften = (key: string, node: FieldNode): Excess => ({
  what: `selections of one field (${key.slice(0, 80)})`,
  counted: MAX_PER_KEY + 1,
  limit: MAX_PER_KEY,
  key: null,
  node,
})

function countVariables({ variables: names }: FieldArguments, { variables }: Walk): void {
  for (const { name, inFilter } of names) {
    const { uses, inFilters } = variables.get(name) ?? { uses: 0, inFilters: 0 }
    variables.set(name, { uses: uses + 1, inFilters: inFilters + (inFilter ? 1 : 0) })
  }
}

function argumentsOf(node: FieldNode, { fieldArguments: input }: Walk): FieldArguments {
  const before = input.get(node)
  if (before) return before
  const found = readArguments(node.arguments ?? [])
  input.set(node, found)
  return found
}

function readArguments(all: readonly ArgumentNode[]): FieldArguments {
  const variables: { name: string; inFilter: boolean }[] = []
  let size = 0
  for (const { name, value } of all) {
    const inFilter = name.value === 'filters'
    visit(value, {
      enter(node) {
        size++
        if (node.kind === Kind.VARIABLE) variables.push({ name: node.name.value, inFilter })
      },
    })
  }
  return { size, variables }
}
