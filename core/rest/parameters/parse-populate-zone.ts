import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault, invalidKey } from '../../faults/fault.ts'
import type { Component, Holder, Model, ZoneAttribute } from '../../model/model.ts'
import { parseFilter } from '../../query/parse-filter.ts'
import { isRecord } from '../../query/parse-place.ts'
import { populateAll, populateZone, selectionOf, wholeZone } from '../../query/populate-nodes.ts'
import type { Populate, ZonePart, ZonePopulate } from '../../query/query.ts'
import { parseFields } from './parse-fields.ts'
import { isNothing, toYesOrNo } from './populate-words.ts'

type Options = Readonly<Record<string, unknown>>
type Parts = ZonePopulate['components']

interface ZonePlace {
  readonly attribute: ZoneAttribute
  readonly holder: Holder
  readonly components: Model['components']
  readonly parsePopulate: (
    raw: unknown,
    holder: Holder,
    components: Model['components'],
  ) => Result<readonly Populate[], Fault>
}

/** contract/rest.md 8: `on` answers the named components only; `populate=*` is one level into every one; zones are never counted. */
export function parseZoneOptions(options: Options, place: ZonePlace): Result<Populate, Fault> {
  const { attribute } = place
  const { on, populate } = options
  const wrong = findWrongOption(options, place)
  if (wrong) return failed(wrong)
  const parts =
    on === undefined || on === null ? ok(wholeParts(attribute, populate)) : parseFragments(on, place)
  if (!parts.ok) return parts
  return ok(populateZone(attribute, 'named', parts.value))
}

const wholeParts = (attribute: ZoneAttribute, populate: unknown): Parts =>
  wholeZone(attribute, populate === '*' ? populateAll : undefined)

function findWrongOption(options: Options, { attribute, holder }: ZonePlace): Fault | undefined {
  const { name } = attribute
  for (const [key, value] of Object.entries(options)) {
    if (key === 'on' || toYesOrNo(key) !== undefined) continue
    if (key === 'count' && toYesOrNo(value) !== undefined) continue
    if (key === 'populate' && (value === '*' || value === null)) continue
    return ROW_OPTIONS.has(key) ? notOnZones(options, attribute, holder) : invalidKey(key, name, 'populate')
  }
  return undefined
}

const ROW_OPTIONS: ReadonlySet<string> = new Set(['fields', 'filters', 'sort'])

export const notOnZones = (options: unknown, { name }: ZoneAttribute, holder: Holder): Fault =>
  fault(
    'validation',
    `Invalid nested populate for ${holder.key}.${name} (${holder.uid}). Expected a fragment ("on") or "count" but found ${JSON.stringify(options)}`,
  )

/** A component that the zone does not take is never there: it is answered by nothing. */
function parseFragments(on: unknown, place: ZonePlace): Result<Parts, Fault> {
  const path = `${place.attribute.name}.on`
  if (on === '') return ok([])
  if (!isRecord(on)) return failed(invalidKey('on', path, 'populate'))
  const parts: Parts[number][] = []
  for (const [uid, options] of Object.entries(on)) {
    const component = place.components.get(uid)
    if (!component) return failed(invalidKey(uid, `${path}.${uid}`, 'populate'))
    const part = parseFragment(options, component, place)
    if (!part.ok) return part
    if (place.attribute.components.includes(component)) parts.push(part.value)
  }
  return ok(parts)
}

/** contract/rest.md 8, and `filters`, as the reference takes them. Of a fragment, false is no refusal: it names its component all the same. */
function parseFragment(
  options: unknown,
  component: Component,
  { attribute, components, parsePopulate }: ZonePlace,
): Result<ZonePart, Fault> {
  if (toYesOrNo(options) !== undefined) return ok({ component, selection: selectionOf(component) })
  if (!isRecord(options)) return failed(invalidKey(String(options), attribute.name, 'populate'))
  for (const key of Object.keys(options)) {
    if (!FRAGMENT_OPTIONS.has(key))
      return failed(invalidKey(key, `${attribute.name}.on.${component.uid}`, 'populate'))
  }
  const filter = isNothing(options.filters)
    ? ok(null)
    : parseFilter(options.filters, component, { param: 'populate' })
  if (!filter.ok) return filter
  const fields = parseFields(options.fields, component, 'populate')
  if (!fields.ok) return fields
  const populate = parsePopulate(options.populate, component, components)
  if (!populate.ok) return populate
  const selection = { ...fields.value, populate: populate.value }
  return ok({ component, selection, ...(filter.value && { filter: filter.value }) })
}

/** An order of one component's entries has no meaning among those of others. */
const FRAGMENT_OPTIONS: ReadonlySet<string> = new Set(['fields', 'filters', 'populate'])
