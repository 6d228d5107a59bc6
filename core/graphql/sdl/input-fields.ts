import {
  graphqlEnumName,
  graphqlTypeName,
  graphqlWrapperNames,
  graphqlZoneName,
} from '../../model/graphql-names.ts'
import { type Attribute, type Holder, isLink } from '../../model/model.ts'
import { attributesInOrder } from './output-fields.ts'
import { SCALAR_NAMES } from './scalar-names.ts'
import { field } from './sdl.ts'
import type { ShadowCrud } from './shadow-crud.ts'

/** The fields of `<Type>Input`, all of them nullable. Stamps are taken by spec 2.6; only publishedAt does anything. */
export function inputFields(holder: Holder, shadow: ShadowCrud): readonly string[] {
  const written = attributesInOrder(holder).filter(
    attribute => isWritable(attribute) && shadow.has(holder, attribute, 'input'),
  )
  const own = holder.holder === 'component' ? ['id: ID'] : []
  return [...own, ...written.map(attribute => field(attribute.name, inputType(holder, attribute)))]
}

/** What inputs take because answers have it (spec 2.6). */
export const STAMPS: ReadonlySet<string> = new Set(['createdAt', 'updatedAt', 'publishedAt'])

const isWritable = ({ name, writable, system }: Attribute): boolean => (system ? STAMPS.has(name) : writable)

function inputType(holder: Holder, attribute: Attribute): string {
  if (isLink(attribute)) return attribute.many ? '[ID]' : 'ID'
  const own = graphqlTypeName(holder)
  switch (attribute.kind) {
    case 'component': {
      const { input } = graphqlWrapperNames(graphqlTypeName(attribute.component))
      return attribute.repeatable ? `[${input}]` : input
    }
    case 'zone':
      return `[${graphqlZoneName(own, attribute.name)}Input!]`
    case 'scalar':
      return attribute.type === 'enumeration'
        ? graphqlEnumName(own, attribute.name)
        : SCALAR_NAMES[attribute.type]
  }
}
