import {
  graphqlEnumName,
  graphqlTypeName,
  graphqlWrapperNames,
  graphqlZoneName,
} from '../../model/graphql-names.ts'
import { type Attribute, type Holder, isLink } from '../../model/model.ts'
import { rowsArguments } from './arguments.ts'
import { SCALAR_NAMES } from './scalar-names.ts'
import { field } from './sdl.ts'
import type { ShadowCrud } from './shadow-crud.ts'

/** The fields of `<Type>`, or of a component's type; none where all is private. */
export function outputFields(holder: Holder, shadow: ShadowCrud): readonly string[] {
  const shown = attributesInOrder(holder).filter(
    attribute => isReadable(attribute) && tells(holder, attribute) && shadow.has(holder, attribute, 'output'),
  )
  const own = holder.holder === 'component' ? ['id: ID!'] : []
  return [...own, ...shown.map(attribute => outputField(holder, attribute))]
}

/** As they were declared, then stamps, `localizations`, `locale`; neither id nor documentId, which stand with the entity. */
export function attributesInOrder(holder: Holder): readonly Attribute[] {
  const all = [...holder.attributes.values()].filter(({ name }) => name !== 'id' && name !== 'documentId')
  const isLast = ({ name, system }: Attribute) => system && name === 'locale'
  return [...all.filter(attribute => !isLast(attribute)), ...all.filter(isLast)]
}

/**
 * Attributes that outputs and filters of the nested format have: without `publishedAt` where nothing is published, and
 * without `focalPoint`, which files have only in the flat format. Inputs have both (spec 2.6).
 */
export const tells = (holder: Holder, { name, system }: Attribute): boolean => {
  if (holder.holder !== 'content-type') return !(system && name === 'publishedAt')
  if (system && name === 'publishedAt') return holder.draftAndPublish
  return !(holder.uid === 'plugin::upload.file' && name === 'focalPoint')
}

/** What leaves: nothing private, and no hash of a password (contract/graphql.md 0; safety S2). */
const isReadable = (attribute: Attribute): boolean =>
  !attribute.private && !(attribute.kind === 'scalar' && attribute.type === 'password')

function outputField(holder: Holder, attribute: Attribute): string {
  const args = isList(attribute) ? rowsArguments(rowsOf(attribute)) : []
  return field(attribute.name, `${outputType(holder, attribute)}${attribute.required ? '!' : ''}`, args)
}

type ListAttribute = Extract<
  Attribute,
  { readonly kind: 'relation' | 'media' | 'localizations' | 'component' }
>

const isList = (attribute: Attribute): attribute is ListAttribute =>
  isLink(attribute) ? attribute.many : attribute.kind === 'component' && attribute.repeatable

const rowsOf = (attribute: ListAttribute): Holder =>
  attribute.kind === 'component' ? attribute.component : attribute.target

function outputType(holder: Holder, attribute: Attribute): string {
  if (isLink(attribute)) {
    const names = graphqlWrapperNames(graphqlTypeName(attribute.target))
    return attribute.many ? names.relation : names.response
  }
  const own = graphqlTypeName(holder)
  switch (attribute.kind) {
    case 'component': {
      const name = graphqlTypeName(attribute.component)
      return attribute.repeatable ? `[${name}]` : name
    }
    case 'zone':
      return `[${graphqlZoneName(own, attribute.name)}]`
    case 'scalar':
      return attribute.type === 'enumeration'
        ? graphqlEnumName(own, attribute.name)
        : SCALAR_NAMES[attribute.type]
  }
}
