import { graphqlEnumValues } from '../../model/enum-names.ts'
import type { Attribute, Component, ContentType, Holder } from '../../model/model.ts'
import { graphqlEnumName, graphqlTypeName, graphqlWrapperNames, graphqlZoneName } from '../../model/names.ts'
import { filterFields, inputFields, outputFields } from './attribute-fields.ts'
import type { EnabledCrud } from './enabled-crud.ts'
import { enumType, inputType, objectType, type Sdl, scalarType, unionType } from './sdl.ts'

/** All types of a component (reference/graphql.md#1-names). */
export function componentDefinitions(component: Component, shadow: EnabledCrud): readonly Sdl[] {
  const name = graphqlTypeName(component)
  const names = graphqlWrapperNames(name)
  return [
    ...attributeDefinitions(component, shadow),
    inputType(names.filters, filterFields(component, shadow)),
    inputType(names.input, inputFields(component, shadow)),
    objectType(name, outputFields(component, shadow)),
  ]
}

/** All types of a content-type; unreachable ones are pruned later. */
export function contentTypeDefinitions(type: ContentType, shadow: EnabledCrud): readonly Sdl[] {
  const name = graphqlTypeName(type)
  const names = graphqlWrapperNames(name)
  const rows = `data: [${names.entity}!]!`
  return [
    ...attributeDefinitions(type, shadow),
    ...(type.kind === 'single' ? [] : [inputType(names.filters, filterFields(type, shadow))]),
    inputType(names.input, inputFields(type, shadow)),
    objectType(name, outputFields(type, shadow)),
    objectType(names.entity, ['id: ID', `attributes: ${name}`]),
    objectType(names.response, [`data: ${names.entity}`]),
    objectType(names.collection, [rows, 'meta: ResponseCollectionMeta!']),
    objectType(names.relation, [rows]),
  ]
}

const attributeDefinitions = (holder: Holder, shadow: EnabledCrud): readonly Sdl[] =>
  [...holder.attributes.values()].flatMap(attribute => attributeDefinition(holder, attribute, shadow))

function attributeDefinition(holder: Holder, attribute: Attribute, shadow: EnabledCrud): readonly Sdl[] {
  const name = graphqlTypeName(holder)
  if (!shadow.has(holder, attribute, 'output') && !shadow.has(holder, attribute, 'input')) return []
  if (attribute.kind === 'zone') {
    const zone = graphqlZoneName(name, attribute.name)
    return [
      unionType(zone, [...attribute.components.map(graphqlTypeName), 'Error']),
      scalarType(`${zone}Input`),
    ]
  }
  if (attribute.kind !== 'scalar' || attribute.type !== 'enumeration') return []
  return [
    enumType(graphqlEnumName(name, attribute.name), [...graphqlEnumValues(attribute.values ?? []).keys()]),
  ]
}
