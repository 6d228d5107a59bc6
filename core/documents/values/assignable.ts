import { didYouMean } from '../../base/nearest.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type {
  Attribute,
  ComponentAttribute,
  Holder,
  MediaAttribute,
  RelationAttribute,
  ScalarAttribute,
  ZoneAttribute,
} from '../../model/model.ts'
import type { Body } from './parse-item.ts'
import type { ValueFault } from './value-fault.ts'

export type Assignable =
  | ScalarAttribute
  | RelationAttribute
  | MediaAttribute
  | ComponentAttribute
  | ZoneAttribute

/** What bodies and files may set: what is declared, and not the service's own. */
export const isAssignable = (attribute: Attribute): attribute is Assignable =>
  !attribute.system && attribute.writable && attribute.kind !== 'localizations'

/** Keys that lead to nothing that may be set. `componentIds`: whether a component may name itself by `id`. */
export function* unknownKeys(
  holder: Holder,
  body: Body,
  path: Path,
  { componentIds }: { readonly componentIds: boolean },
): Generator<ValueFault> {
  const known = [...holder.attributes.values()].filter(isAssignable).map(({ name }) => name)
  for (const key of Object.keys(body)) {
    if (known.includes(key)) continue
    if (holder.holder === 'component' && (key === '__component' || (key === 'id' && componentIds))) continue
    const name = holder.holder === 'component' ? holder.uid : holder.key
    yield {
      kind: 'key',
      path: [...path, key],
      message: holder.attributes.has(key)
        ? `\`${key}\` of \`${name}\` cannot be set`
        : `unknown attribute \`${key}\` of \`${name}\`${didYouMean(key, known)}`,
    }
  }
}

/** The service makes a value where none is given. */
export const isGenerated = (attribute: Assignable): boolean =>
  attribute.kind === 'scalar' && attribute.generate === true
