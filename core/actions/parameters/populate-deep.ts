import { fault, invalidKey, RequestFault } from '../../faults/fault.ts'
import type { Attribute, Holder } from '../../model/model.ts'
import type { RestSettings } from '../../project/settings/settings.ts'
import { findTooManyComponents } from '../../query/join-limit.ts'
import {
  allRows,
  populateMixed,
  populateRows,
  populateWhole,
  selectionOf,
} from '../../query/populate-nodes.ts'
import type { Populate } from '../../query/query.ts'
import type { Params } from '../action-params.ts'
import { findExcessPopulate, MAX_POPULATES, POPULATE_DEPTH } from './populate-names.ts'

// `populate=deep` and `populate=deep,3` as the plugin strapi-plugin-populate-deep of Strapi 4 reads them, and `pLevel=3` of its
// version for Strapi 5, if `rest.populateDeep` sets the default depth.

type DeepSettings = Pick<RestSettings, 'populateDeep'>

const DEEP = 'deep'

/** Populates all relations, media, components and zones to a depth; null: the parameters do not ask for it. */
export function parsePopulateDeep(
  { populate, pLevel }: Params,
  type: Holder,
  { populateDeep }: DeepSettings,
): readonly Populate[] | null {
  if (pLevel !== undefined && populateDeep !== undefined)
    return expand(type, pLevel === '' ? populateDeep : parseDepth(pLevel, 'pLevel'))
  const words = deepWords(populate)
  if (!words || type.attributes.has(DEEP)) return null
  if (populateDeep === undefined) throw new RequestFault(notDeclared())
  const [depth, ...others] = words
  if (others.length > 0) throw invalidDepth('populate', 'deep, or deep and a depth such as deep,3')
  return expand(type, depth === undefined ? populateDeep : parseDepth(depth, 'populate'))
}

/** True for `deep`, `deep,3` and a list of these words. */
export const isPopulateDeep = (populate: unknown): boolean => deepWords(populate) !== null

/** The words after `deep`; null: another populate. */
function deepWords(populate: unknown): readonly string[] | null {
  const texts: readonly unknown[] = Array.isArray(populate) ? populate : [populate]
  const [first] = texts
  if (typeof first !== 'string' || !/^\s*deep\s*(?:,|$)/.test(first)) return null
  return texts
    .flatMap(text => (typeof text === 'string' ? text.split(',') : []))
    .map(word => word.trim())
    .slice(1)
}

const notDeclared = () => ({
  ...invalidKey(DEEP, DEEP, 'populate'),
  message:
    'Invalid key deep: populate=deep needs rest.populateDeep in project.yaml, the depth to populate to',
})

function parseDepth(word: unknown, key: string): number {
  if (typeof word === 'string' && /^[1-9]\d{0,3}$/.test(word)) return Number(word)
  throw invalidDepth(key, 'a depth of 1 or more')
}

const invalidDepth = (key: string, expected: string): RequestFault =>
  new RequestFault(fault('validation', `Invalid value for ${key}: expected ${expected}`, { key, expected }))

function expand(type: Holder, depth: number): readonly Populate[] {
  const populates = populatesTo(depth, type)
  if (populates) return populates
  throw new RequestFault(tooDeep(depth, type))
}

/** Names the largest depth that the limits of a populate allow. */
function tooDeep(depth: number, type: Holder) {
  let allowed = Math.min(depth - 1, POPULATE_DEPTH + 1)
  while (allowed > 1 && !populatesTo(allowed, type)) allowed--
  const message = `populate=deep,${depth} of ${type.key} exceeds the limits of a populate: use populate=deep,${allowed}`
  return fault('validation', message, { key: 'populate', expected: `a depth of at most ${allowed}` })
}

/** What a depth still leads to. */
interface Walk {
  readonly depth: number
  /** Tables of the types so far: the plugin leaves out relations of their names, which lead back, but not below components. */
  readonly seen: Set<string> | null
  /** Nodes that may still be added, in the whole tree. */
  readonly budget: { nodes: number }
}

/** null: more than a query may populate. */
function populatesTo(depth: number, type: Holder): readonly Populate[] | null {
  const budget = { nodes: MAX_POPULATES }
  const populates = populateInside(type, { depth, seen: new Set(), budget })
  const excess = findExcessPopulate(populates) ?? findTooManyComponents(populates)
  return budget.nodes < 0 || excess ? null : populates
}

/** A depth of 1 is the entry itself. */
function populateInside(holder: Holder, walk: Walk): readonly Populate[] {
  const { depth, seen, budget } = walk
  if (depth <= 1) return []
  if (holder.holder === 'content-type') seen?.add(holder.tableName)
  const populates: Populate[] = []
  for (const attribute of holder.attributes.values()) {
    if (attribute.kind === 'scalar' || attribute.kind === 'morph' || seen?.has(attribute.name)) continue
    if (budget.nodes-- <= 0) return populates
    const populate = populateTo(attribute, { ...walk, depth: depth - 1 })
    if (populate) populates.push(populate)
  }
  return populates
}

/** Other locales and files are populated without what they link to. */
function populateTo(attribute: Attribute, walk: Walk): Populate | null {
  switch (attribute.kind) {
    case 'relation':
      return populateRows(attribute, 'all', allRows(attribute.target, populateInside(attribute.target, walk)))
    case 'component':
      return populateRows(
        attribute,
        'all',
        allRows(attribute.component, populateInside(attribute.component, { ...walk, seen: null })),
      )
    case 'zone':
      return populateMixed(
        attribute,
        'all',
        attribute.components.map(component => ({
          holder: component,
          selection: selectionOf(component, populateInside(component, { ...walk, seen: null })),
        })),
      )
    default:
      return populateWhole(attribute, 'all')
  }
}
