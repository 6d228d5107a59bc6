import { memoize } from '../base/memo.ts'
import type { Attribute, Holder, ScalarAttribute } from '../model/model.ts'

/** No code may return, filter or sort by passwords (reference/rest.md#3-attribute-values), and no caller by private attributes. */
const isReadable = (attribute: Attribute): boolean => !attribute.private && !isPasswordAttribute(attribute)

export const isPasswordAttribute = (attribute: Attribute): boolean =>
  attribute.kind === 'scalar' && attribute.type === 'password'

/** The `targetField` of a uid if it is one of the attributes with these names; otherwise nothing may show its name. */
export const shownTarget = (
  { targetField }: ScalarAttribute,
  names: ReadonlySet<string>,
): string | undefined => (targetField !== undefined && names.has(targetField) ? targetField : undefined)

/** The attributes that a caller with every permission may read. */
export const readableAttributes = memoize(
  (holder: Holder): ReadonlySet<Attribute> => new Set([...holder.attributes.values()].filter(isReadable)),
)
