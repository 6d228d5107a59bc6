import { isPopulateDeep } from '../actions/parameters/populate-deep.ts'
import { parseBoolean } from '../actions/parameters/populate-names.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import type { Holder } from '../model/model.ts'
import type { RestSettings } from '../project/settings/settings.ts'
import { isRecord, targetHolder } from '../query/parse-place.ts'
import { allShapes, defaultShapes, type MixedAttribute } from '../query/populate-nodes.ts'

type Tree = Readonly<Record<string, unknown>>

/** Nodes of a populate that may still be visited: one below a zone is visited for each of its components. */
interface Budget {
  nodes: number
}

const MOST_NODES = 5_000
const TOO_MUCH = 'The populate leads through too many components'

/**
 * A populate without the names that the holder does not have: Strapi 4 ignores these, `deep` too unless the project has its
 * plugin. undefined: nothing is left.
 */
export const fromStrapi4Populate = (
  input: unknown,
  holder: Holder,
  { populateDeep }: Pick<RestSettings, 'populateDeep'>,
): unknown =>
  populateDeep !== undefined && isPopulateDeep(input)
    ? input
    : toPopulate(input, holder, { nodes: MOST_NODES })

function toPopulate(input: unknown, holder: Holder, budget: Budget): unknown {
  if (input === '*') return input
  if (budget.nodes-- <= 0) throw new RequestFault(fault('validation', TOO_MUCH, { key: 'populate' }))
  if (typeof input === 'string' || Array.isArray(input)) return toPopulate(toTree(input), holder, budget)
  if (!isRecord(input)) return input
  const entries = Object.entries(flattenNames(input)).flatMap(([name, options]): [string, unknown][] => {
    const attribute = holder.attributes.get(name)
    if (!attribute || attribute.kind === 'scalar') return []
    if (attribute.kind === 'zone' || attribute.kind === 'morph')
      return [[name, toMixedOptions(options, attribute, budget)]]
    const behind = targetHolder(attribute)
    return behind ? [[name, toOptions(options, behind, budget)]] : []
  })
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}

/** Strapi 4 ignores other keys. */
const OPTIONS: ReadonlySet<string> = new Set(['fields', 'filters', 'sort', 'count'])

function toOptions(options: unknown, holder: Holder, budget: Budget): unknown {
  if (options === '*') return { populate: '*' }
  // Strapi 4 reads any other text as a boolean.
  if (typeof options === 'string' && parseBoolean(options) === undefined) return 'true'
  if (!isRecord(options)) return options
  const { populate, ...input } = options
  const others = Object.fromEntries(Object.entries(input).filter(([key]) => OPTIONS.has(key)))
  const inner = toPopulate(populate, holder, budget)
  return inner === undefined && Object.keys(others).length === 0
    ? 'true'
    : { ...others, ...(inner !== undefined && { populate: inner }) }
}

/** `populate[zone][populate][x]` populates x of each component that has it; the same for `related` of files. */
function toMixedOptions(options: unknown, attribute: MixedAttribute, budget: Budget): unknown {
  if (options === '*') return { populate: '*' }
  if (typeof options === 'string' && parseBoolean(options) === undefined) return 'true'
  if (!isRecord(options)) return options
  const { populate, on } = options
  if (isRecord(on)) {
    const known = Object.entries(on).flatMap(([uid, part]): [string, unknown][] => {
      const shape = allShapes(attribute).find(each => each.uid === uid)
      return shape ? [[uid, toOptions(part, shape, budget)]] : []
    })
    return { on: Object.fromEntries(known) }
  }
  if (populate === undefined || populate === null) return 'true'
  if (populate === '*') return { populate }
  const parts = defaultShapes(attribute).map(each => [each.uid, toOptions({ populate }, each, budget)])
  return { on: Object.fromEntries(parts) }
}

/** `populate[0]=a&populate[b]=true` is parsed as an object with the key 0. */
function flattenNames(input: Tree): Tree {
  const named = Object.entries(input).filter(([key, value]) => /^\d+$/.test(key) && typeof value === 'string')
  if (named.length === 0) return input
  const others = Object.entries(input).filter(([key]) => !/^\d+$/.test(key))
  return { ...toTree(named.map(([, value]) => value)), ...Object.fromEntries(others) }
}

/** Dotted names as nested populates. */
function toTree(input: string | readonly unknown[]): Tree {
  const root: Record<string, unknown> = Object.create(null)
  const texts = (Array.isArray(input) ? input : [input]).filter(each => typeof each === 'string')
  for (const path of texts.flatMap(text => text.split(','))) {
    let level = root
    const names = path.trim().split('.').filter(Boolean)
    for (const [index, name] of names.entries()) {
      if (index === names.length - 1) level[name] ??= name === '*' ? '*' : 'true'
      else level = childOf(level, name)
    }
  }
  return root
}

function childOf(level: Record<string, unknown>, name: string): Record<string, unknown> {
  const known = level[name]
  if (isRecord(known) && isRecord(known.populate)) return known.populate as Record<string, unknown>
  const populate: Record<string, unknown> = Object.create(null)
  level[name] = { populate }
  return populate
}
