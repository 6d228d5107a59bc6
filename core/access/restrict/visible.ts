import type { Attribute, Holder } from '../../model/model.ts'

/** Passwords never leave, filter or sort, for anybody (spec 2.4); private attributes for no caller. */
const isVisible = (attribute: Attribute): boolean => !attribute.private && !isPassword(attribute)

export const isPassword = (attribute: Attribute): boolean =>
  attribute.kind === 'scalar' && attribute.type === 'password'

const known = new WeakMap<Holder, ReadonlySet<Attribute>>()

/** The attributes that may be read at all, by whoever may read everything. */
export function visibleAttributes(holder: Holder): ReadonlySet<Attribute> {
  const before = known.get(holder)
  if (before) return before
  const visible = new Set([...holder.attributes.values()].filter(isVisible))
  known.set(holder, visible)
  return visible
}
