import { fault, type QueryParam, RequestFault } from '../../faults/fault.ts'
import type { Holder, ScalarAttribute } from '../../model/model.ts'
import { unknownKey } from '../../query/parse-place.ts'
import { everyField, type SelectedFields } from '../../query/populate-nodes.ts'
import type { Filter, Selection, Sort } from '../../query/query.ts'

/** Parses `fields` (reference/rest.md#4-fields): names in a comma-separated text or a list; `*` or absent: all fields. */
export function parseFields(raw: unknown, holder: Holder, param: QueryParam = 'fields'): SelectedFields {
  if (raw === undefined) return everyField(holder)
  const names = toNames(raw)
  if (!names)
    throw new RequestFault(
      fault('validation', 'Invalid fields parameter. Expected a string or an array of strings'),
    )
  const fields = new Set<ScalarAttribute>()
  for (const name of names) {
    const attribute = holder.attributes.get(name)
    if (attribute?.kind === 'scalar') fields.add(attribute)
    else if (name !== '*') throw new RequestFault(unknownKey({ holder, param, path: null }, name))
  }
  return names.includes('*') ? everyField(holder) : { fields: [...fields], named: true }
}

/** null: neither a text nor a list of single names. */
function toNames(raw: unknown): readonly string[] | null {
  if (typeof raw === 'string') return raw.split(',').map(name => name.trim())
  if (!Array.isArray(raw)) return null
  const names = raw.filter(item => typeof item === 'string' && !item.includes(','))
  return names.length === raw.length ? names.map(name => String(name).trim()) : null
}

type FieldChoice = Pick<Selection, 'fields' | 'named'>

/**
 * Adds sort attributes to the named fields: Strapi selects them whenever it joins (unless a sort follows a relation),
 * and clients rely on them.
 */
export function withSortedFields({ fields, named }: FieldChoice, sorts: readonly Sort[]): FieldChoice {
  const own = sorts.every(({ path }) => path.length === 0)
  if (!named || !own || sorts.length === 0) return { fields, named }
  const sorted = sorts.map(({ attribute }) => attribute)
  return { fields: [...new Set<ScalarAttribute>([...fields, ...sorted])], named }
}

/** True if the filter joins other tables. */
export function joinsTables(filter: Filter | null): boolean {
  switch (filter?.kind) {
    case 'and':
    case 'or':
      return filter.filters.some(joinsTables)
    case 'not':
      return joinsTables(filter.filter)
    default:
      return filter?.kind === 'related'
  }
}
