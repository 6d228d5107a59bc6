import { type Fault, fault, invalidKey, RequestFault } from '../../faults/fault.ts'
import type { Attribute, Holder } from '../../model/model.ts'
import { targetHolder } from '../../query/parse-place.ts'
import {
  allRows,
  defaultShapes,
  type MixedAttribute,
  populateMixed,
  populateRows,
  selectionOf,
} from '../../query/populate-nodes.ts'
import type { Populate, PopulateOrigin, ShapePart } from '../../query/query.ts'

/** Dotted names as a tree: `a,a.b,c.d` is a (named) with the child b, and c (not named) with the child d. */
export type NameTree = ReadonlyMap<string, NameNode>

export interface NameNode {
  /** True if the path to here was given itself, not only as a prefix. */
  readonly named: boolean
  readonly children: NameTree
}

interface MutableNode {
  named: boolean
  readonly children: Map<string, MutableNode>
}

/** Parses a text or a list of texts; null: neither. */
export function toNameTree(raw: unknown): NameTree | null {
  const items: readonly unknown[] = Array.isArray(raw) ? raw : [raw]
  const texts = items.filter(item => typeof item === 'string')
  if (texts.length !== items.length) return null
  const words = new Map<string, MutableNode>()
  for (const text of texts) for (const path of text.split(',')) addPath(words, path)
  return words
}

/** Empty names between dots are skipped (reference/rest.md#8-populate). */
function addPath(words: Map<string, MutableNode>, path: string): void {
  let level = words
  let word: MutableNode | undefined
  for (const name of path.trim().split('.').filter(Boolean)) {
    word = level.get(name) ?? { named: false, children: new Map() }
    level.set(name, word)
    level = word.children
  }
  if (word) word.named = true
}

const YES: ReadonlySet<unknown> = new Set([true, 'true', 't', '1'])
const NO: ReadonlySet<unknown> = new Set([false, 'false', 'f', '0'])

/** Parses a boolean as populates spell it; undefined: not a boolean. */
export function parseBoolean(raw: unknown): boolean | undefined {
  if (YES.has(raw)) return true
  return NO.has(raw) ? false : undefined
}

export const isEmpty = (raw: unknown): boolean => raw === undefined || raw === null || raw === ''

/** Position inside a populate, for faults. */
interface NamePlace {
  /** The dotted path to here; null at the top level. */
  readonly path: string | null
  /** True if the names were given as one text: faults contain the whole path (reference/rest.md#8-populate). */
  readonly literal: boolean
  /** Number of levels above this one. */
  readonly depth: number
}

/** Resolves names to populate nodes. */
export function parsePopulateNames(words: NameTree, holder: Holder, place: NamePlace): readonly Populate[] {
  if (words.size > 0 && place.depth >= POPULATE_DEPTH) throw new RequestFault(tooDeep())
  const populates: Populate[] = []
  for (const [name, word] of words) {
    const attribute = holder.attributes.get(name)
    if (!attribute) throw new RequestFault(unknownName(name, place))
    const below = { ...place, path: join(place, name), depth: place.depth + 1 }
    populates.push(parsePopulateName(attribute, word, below))
  }
  return populates
}

const join = ({ path }: NamePlace, name: string): string => (path === null ? name : `${path}.${name}`)

const unknownName = (name: string, place: NamePlace): Fault =>
  invalidKey(name, place.literal ? join(place, name) : place.path, 'populate')

const originOf = ({ named }: NameNode): PopulateOrigin => (named ? 'named' : 'passed')

function parsePopulateName(attribute: Attribute, word: NameNode, place: NamePlace): Populate {
  if (attribute.kind === 'zone' || attribute.kind === 'morph') return parseMixedName(attribute, word, place)
  const behind = targetHolder(attribute)
  if (!behind || attribute.kind === 'scalar')
    throw new RequestFault(invalidKey(attribute.name, place.path, 'populate'))
  const below = parsePopulateNames(word.children, behind, place)
  return populateRows(attribute, originOf(word), allRows(behind, below))
}

const isPopulatable = (attribute: Attribute | undefined): boolean =>
  attribute !== undefined && attribute.kind !== 'scalar'

/** A name below a list of several shapes applies to those that have it; at least one must. Scalar names are ignored. */
function parseMixedName(list: MixedAttribute, word: NameNode, place: NamePlace): Populate {
  const shapes = defaultShapes(list)
  for (const name of word.children.keys()) {
    const known = shapes.some(({ attributes }) => attributes.has(name))
    if (!known) throw new RequestFault(unknownName(name, place))
  }
  const parts: ShapePart[] = []
  for (const holder of shapes) {
    const relevant = new Map(
      [...word.children].filter(([name]) => isPopulatable(holder.attributes.get(name))),
    )
    const below = parsePopulateNames(relevant, holder, place)
    parts.push({ holder, selection: selectionOf(holder, below) })
  }
  return populateMixed(list, originOf(word), parts)
}

/** Maximum nesting of populates. */
export const POPULATE_DEPTH = 10

/** Maximum number of populates of a query; each costs a subquery. */
export const MAX_POPULATES = 500

const tooDeep = (): Fault => fault('validation', `A populate may go at most ${POPULATE_DEPTH} levels deep`)

/** Checks the limits of a query's populates. */
export function findExcessPopulate(populates: readonly Populate[]): Fault | undefined {
  if (depthOf(populates) > POPULATE_DEPTH) return tooDeep()
  if (sizeOf(populates) <= MAX_POPULATES) return undefined
  return fault('validation', `A query may populate at most ${MAX_POPULATES} attributes`)
}

const depthOf = (populates: readonly Populate[]): number =>
  populates.reduce((depth, populate) => Math.max(depth, 1 + depthOf(inside(populate))), 0)

const sizeOf = (populates: readonly Populate[]): number =>
  populates.reduce((size, populate) => size + 1 + sizeOf(inside(populate)), 0)

const inside = (populate: Populate): readonly Populate[] =>
  'parts' in populate
    ? populate.parts.flatMap(({ selection }) => selection.populate)
    : populate.selection.populate
