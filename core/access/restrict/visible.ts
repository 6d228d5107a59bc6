import { memoize } from '../../base/memo.ts'
import type { Attribute, Holder } from '../../model/model.ts'

/** Passwords never leave, filter or sort, for anybody (spec 2.4); private attributes for no caller. */
const isReadable = (attribute: Attribute): boolean => !attribute.private && !isPasswordAttribute(attribute)

export const isPasswordAttribute = (attribute: Attribute): boolean =>
  attribute.kind === 'scalar' && attribute.type === 'password'

/** The attributes that may be read at all, by whoever may read everything. */
export const readableAttributes = memoize(
  (holder: Holder): ReadonlySet<Attribute> => new Set([...holder.attributes.values()].filter(isReadable)),
)
