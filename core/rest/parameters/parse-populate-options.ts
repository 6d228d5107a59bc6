import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault, invalidKey } from '../../faults/fault.ts'
import type { Attribute, ComponentAttribute, Holder, LinkAttribute, Model } from '../../model/model.ts'
import { parseFilter } from '../../query/parse-filter.ts'
import { holderBehind } from '../../query/parse-place.ts'
import { parseSort } from '../../query/parse-sort.ts'
import { populateRows, type Rows } from '../../query/populate-nodes.ts'
import type { Populate } from '../../query/query.ts'
import { parseFields } from './parse-fields.ts'
import { parseZoneOptions } from './parse-populate-zone.ts'
import { isNothing, toYesOrNo } from './populate-words.ts'
import { withSorted } from './sorted-fields.ts'

type Options = Readonly<Record<string, unknown>>
type Components = Model['components']

/** Where options stand: `populate[attribute][…]`, among the attributes of a holder. */
export interface OptionsPlace {
  readonly attribute: Attribute
  readonly holder: Holder
  readonly components: Components
  /** Parses what is populated further inside. */
  readonly parsePopulate: (
    raw: unknown,
    holder: Holder,
    components: Components,
  ) => Result<readonly Populate[], Fault>
}

const OPTIONS: ReadonlySet<string> = new Set(['fields', 'filters', 'sort', 'populate', 'count'])

/** contract/rest.md 8: `fields`, `filters`, `sort`, `populate`, `count`; of zones `on`, `populate=*` and `count`. */
export function parsePopulateOptions(options: Options, place: OptionsPlace): Result<Populate, Fault> {
  const { attribute } = place
  if (attribute.kind === 'zone') return parseZoneOptions(options, { ...place, attribute })
  const behind = holderBehind(attribute)
  if (!behind || attribute.kind === 'scalar')
    return failed(invalidKey(attribute.name, attribute.name, 'populate'))
  const wrong = findUnknownOption(options, attribute, { ...place, behind })
  if (wrong) return failed(wrong)
  const rows = parseRows(options, behind, place)
  return rows.ok ? ok(populateRows(attribute, 'named', rows.value)) : rows
}

function findUnknownOption(
  options: Options,
  { name }: LinkAttribute | ComponentAttribute,
  { holder, behind }: OptionsPlace & { readonly behind: Holder },
): Fault | undefined {
  for (const key of Object.keys(options)) {
    if (OPTIONS.has(key) || toYesOrNo(key) !== undefined) continue
    if (key === 'on')
      return fault('validation', `Using fragments is not permitted to populate "${name}" in "${holder.uid}"`)
    return invalidKey(key, behind.attributes.has(key) ? `${name}.${key}` : name, 'populate')
  }
  const { count } = options
  return isNothing(count) || toYesOrNo(count) !== undefined
    ? undefined
    : invalidKey('count', name, 'populate')
}

/** The reference answers files and other locales themselves, not their number. */
const isCounted = ({ kind }: Attribute): boolean => kind !== 'media' && kind !== 'localizations'

/** Places in faults are told anew from here (contract/rest.md 8). */
function parseRows(
  options: Options,
  behind: Holder,
  { attribute, components, parsePopulate }: OptionsPlace,
): Result<Rows, Fault> {
  const filter = isNothing(options.filters)
    ? ok(null)
    : parseFilter(options.filters, behind, { param: 'populate' })
  if (!filter.ok) return filter
  const sort = parseSort(options.sort, behind, 'populate')
  if (!sort.ok) return sort
  const fields = parseFields(options.fields ?? undefined, behind, 'populate')
  if (!fields.ok) return fields
  const populate = parsePopulate(options.populate, behind, components)
  if (!populate.ok) return populate
  // The reference finds other locales without a join (contract/rest.md 11).
  const shown = attribute.kind === 'localizations' ? fields.value : withSorted(fields.value, sort.value)
  return ok({
    selection: { ...shown, populate: populate.value },
    filter: filter.value,
    sort: sort.value,
    count: isCounted(attribute) && toYesOrNo(options.count) === true,
  })
}
