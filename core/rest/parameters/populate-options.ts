import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault, invalidKey } from '../../faults/fault.ts'
import type {
  Attribute,
  Component,
  ComponentAttribute,
  Holder,
  LinkAttribute,
  Model,
  ZoneAttribute,
} from '../../model/model.ts'
import { parseFilter } from '../../query/parse-filter.ts'
import { isRecord, targetHolder } from '../../query/parse-place.ts'
import { parseSort } from '../../query/parse-sort.ts'
import {
  allZoneComponents,
  type PopulatedRows,
  populateAll,
  populateRows,
  populateZone,
  selectionOf,
} from '../../query/populate-nodes.ts'
import type { Populate, ZonePart, ZonePopulate } from '../../query/query.ts'
import { parseFields, withSortedFields } from './parse-fields.ts'
import { isEmpty, parseBoolean } from './populate-names.ts'

type PopulateOptions = Readonly<Record<string, unknown>>
type Components = Model['components']

/** The attribute of `populate[attribute][…]` and its holder. */
export interface PopulatePlace {
  readonly attribute: Attribute
  readonly holder: Holder
  readonly components: Components
  /** Parses nested populates. */
  readonly parsePopulate: (
    raw: unknown,
    holder: Holder,
    components: Components,
  ) => Result<readonly Populate[], Fault>
}

const OPTIONS: ReadonlySet<string> = new Set(['fields', 'filters', 'sort', 'populate', 'count'])

/** Options of reference/rest.md#8-populate: `fields`, `filters`, `sort`, `populate`, `count`; for zones `on`, `populate=*`, `count`. */
export function parsePopulateOptions(
  options: PopulateOptions,
  place: PopulatePlace,
): Result<Populate, Fault> {
  const { attribute } = place
  if (attribute.kind === 'zone') return parseZoneOptions(options, { ...place, attribute })
  const behind = targetHolder(attribute)
  if (!behind || attribute.kind === 'scalar')
    return failed(invalidKey(attribute.name, attribute.name, 'populate'))
  const wrong = findUnknownOption(options, attribute, { ...place, behind })
  if (wrong) return failed(wrong)
  const rows = parseRows(options, behind, place)
  return rows.ok ? ok(populateRows(attribute, 'named', rows.value)) : rows
}

function findUnknownOption(
  options: PopulateOptions,
  { name }: LinkAttribute | ComponentAttribute,
  { holder, behind }: PopulatePlace & { readonly behind: Holder },
): Fault | undefined {
  for (const key of Object.keys(options)) {
    if (OPTIONS.has(key) || parseBoolean(key) !== undefined) continue
    if (key === 'on')
      return fault('validation', `Using fragments is not permitted to populate "${name}" in "${holder.uid}"`)
    return invalidKey(key, behind.attributes.has(key) ? `${name}.${key}` : name, 'populate')
  }
  const { count } = options
  return isEmpty(count) || parseBoolean(count) !== undefined
    ? undefined
    : invalidKey('count', name, 'populate')
}

/** Strapi ignores `count` for files and other locales. */
const isCounted = ({ kind }: Attribute): boolean => kind !== 'media' && kind !== 'localizations'

/** Paths in faults are relative to this attribute (reference/rest.md#8-populate). */
function parseRows(
  options: PopulateOptions,
  behind: Holder,
  { attribute, components, parsePopulate }: PopulatePlace,
): Result<PopulatedRows, Fault> {
  const filter = isEmpty(options.filters)
    ? ok(null)
    : parseFilter(options.filters, behind, { param: 'populate' })
  if (!filter.ok) return filter
  const sort = parseSort(options.sort, behind, 'populate')
  if (!sort.ok) return sort
  const fields = parseFields(options.fields ?? undefined, behind, 'populate')
  if (!fields.ok) return fields
  const populate = parsePopulate(options.populate, behind, components)
  if (!populate.ok) return populate
  // Strapi reads other locales without a join (reference/rest.md#11-locales).
  const shown = attribute.kind === 'localizations' ? fields.value : withSortedFields(fields.value, sort.value)
  return ok({
    selection: { ...shown, populate: populate.value },
    filter: filter.value,
    sort: sort.value,
    count: isCounted(attribute) && parseBoolean(options.count) === true,
  })
}

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

/** reference/rest.md#8-populate: `on` selects components; `populate=*` populates one level of all; `count` has no effect on zones. */
function parseZoneOptions(options: PopulateOptions, place: ZonePlace): Result<Populate, Fault> {
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
  allZoneComponents(attribute, populate === '*' ? populateAll : undefined)

function findWrongOption(options: PopulateOptions, { attribute, holder }: ZonePlace): Fault | undefined {
  const { name } = attribute
  for (const [key, value] of Object.entries(options)) {
    if (key === 'on' || parseBoolean(key) !== undefined) continue
    if (key === 'count' && parseBoolean(value) !== undefined) continue
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

/** A component that the zone does not allow never occurs, so its fragment is dropped. */
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

/** A fragment's options (reference/rest.md#8-populate), with `filters` as in Strapi. `false` selects the component, too. */
function parseFragment(
  options: unknown,
  component: Component,
  { attribute, components, parsePopulate }: ZonePlace,
): Result<ZonePart, Fault> {
  if (parseBoolean(options) !== undefined) return ok({ component, selection: selectionOf(component) })
  if (!isRecord(options)) return failed(invalidKey(String(options), attribute.name, 'populate'))
  for (const key of Object.keys(options)) {
    if (!FRAGMENT_OPTIONS.has(key))
      return failed(invalidKey(key, `${attribute.name}.on.${component.uid}`, 'populate'))
  }
  const filter = isEmpty(options.filters)
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

/** No `sort`: entries of different components share one order. */
const FRAGMENT_OPTIONS: ReadonlySet<string> = new Set(['fields', 'filters', 'populate'])
