import { type Fault, fault, invalidKey, RequestFault } from '../../faults/fault.ts'
import type { Attribute, Holder, Model } from '../../model/model.ts'
import { isRecord, targetHolder, unknownKey } from '../../query/parse-place.ts'
import { populateAll, populateWhole } from '../../query/populate-nodes.ts'
import type { Populate } from '../../query/query.ts'
import { parseBoolean, parsePopulateNames, toNameTree } from './populate-names.ts'
import { notOnZones, parsePopulateOptions } from './populate-options.ts'

type Components = Model['components']

/** Parses `populate` (reference/rest.md#8-populate): `*`, dotted names in a text or list, or an object of names with options. */
export function parsePopulate(raw: unknown, holder: Holder, components: Components): readonly Populate[] {
  if (raw === undefined || raw === null || raw === '') return []
  if (raw === '*') return populateAll(holder)
  if (isRecord(raw)) return parseNames(raw, { holder, components })
  const words = toNameTree(raw)
  if (words) return parsePopulateNames(words, holder, { path: null, literal: true, depth: 0 })
  throw new RequestFault(
    fault(
      'validation',
      'Invalid populate parameter. Expected a string, an array of strings, a populate object',
    ),
  )
}

interface Level {
  readonly holder: Holder
  readonly components: Components
}

function parseNames(raw: Readonly<Record<string, unknown>>, level: Level): readonly Populate[] {
  const populates: Populate[] = []
  for (const [name, value] of Object.entries(raw)) {
    if (isListIndex(name, level.holder)) continue
    const parsed = parseName(name, value, level)
    if (parsed) populates.push(parsed)
  }
  return populates
}

/** A list mixed with an object is parsed as an object with numeric keys; these are ignored. */
const isListIndex = (name: string, { attributes }: Holder): boolean =>
  !attributes.has(name) && (/^\d+$/.test(name) || parseBoolean(name) !== undefined)

/** `populate[component]=*` populates one level of the component. */
const WHOLE = { populate: '*' }

/** null: `false` excludes the attribute. */
function parseName(name: string, value: unknown, { holder, components }: Level): Populate | null {
  const attribute = holder.attributes.get(name)
  const whole = attribute && populateWhole(attribute, 'named')
  if (!attribute || !whole)
    throw new RequestFault(unknownKey({ holder, param: 'populate', path: null }, name))
  const wanted = value === null ? false : parseBoolean(value)
  if (wanted !== undefined) return wanted ? whole : null
  const options = value === '*' && attribute.kind === 'component' ? WHOLE : value
  if (isRecord(options))
    return parsePopulateOptions(options, { attribute, holder, components, parsePopulate })
  throw new RequestFault(unexpectedText(attribute, value, holder))
}

/** A text is not an option; Strapi reports it as an unknown option name (reference/rest.md#8-populate). */
function unexpectedText(attribute: Attribute, value: unknown, holder: Holder): Fault {
  if (attribute.kind === 'zone' || attribute.kind === 'morph') return notOnZones(value, attribute, holder)
  const text: unknown = Array.isArray(value) ? value[0] : value
  const [name = ''] = typeof text === 'string' ? text.split('.') : []
  const known = targetHolder(attribute)?.attributes.has(name)
  return invalidKey(name, known ? `${attribute.name}.${name}` : attribute.name, 'populate')
}
