import { graphqlEnumValues } from '../../model/enum-names.ts'
import type { Attribute, Component, ContentType, Holder } from '../../model/model.ts'
import { graphqlEnumName, graphqlTypeName, graphqlWrapperNames, graphqlZoneName } from '../../model/names.ts'
import type { GraphqlFormat } from '../formats/format.ts'
import { type FieldTerms, filterFields, inputFields, outputFields } from './attribute-fields.ts'
import type { EnabledCrud } from './enabled-crud.ts'
import { enumType, inputType, objectType, type Sdl, scalarType, unionType } from './sdl.ts'

/** All types of a component (reference/graphql.md#1-names). */
export function componentDefinitions(component: Component, terms: FieldTerms): readonly Sdl[] {
  const name = graphqlTypeName(component)
  const names = graphqlWrapperNames(name)
  return [
    ...attributeDefinitions(component, terms.shadow),
    inputType(names.filters, filterFields(component, terms)),
    inputType(names.input, inputFields(component, terms)),
    objectType(name, outputFields(component, terms)),
  ]
}

/** All types of a content-type; unreachable ones are pruned later. */
export function contentTypeDefinitions(type: ContentType, terms: FieldTerms): readonly Sdl[] {
  const name = graphqlTypeName(type)
  const names = graphqlWrapperNames(name)
  return [
    ...attributeDefinitions(type, terms.shadow),
    ...(type.kind === 'single' ? [] : [inputType(names.filters, filterFields(type, terms))]),
    inputType(names.input, inputFields(type, terms)),
    objectType(name, outputFields(type, terms)),
    ...wrapperDefinitions(name, terms.format),
  ]
}

/** The objects around documents and their attributes. */
function wrapperDefinitions(name: string, { name: format }: GraphqlFormat): readonly Sdl[] {
  const { entity, response, collection, relation } = graphqlWrapperNames(name)
  if (format === 'flat') {
    const nodes = `nodes: [${name}!]!`
    return [
      objectType(response, [`data: ${name}`]),
      objectType(collection, [nodes, 'pageInfo: Pagination!']),
      objectType(relation, [nodes]),
    ]
  }
  const rows = `data: [${entity}!]!`
  return [
    objectType(entity, ['id: ID', `attributes: ${name}`]),
    objectType(response, [`data: ${entity}`]),
    objectType(collection, [rows, 'meta: ResponseCollectionMeta!']),
    objectType(relation, [rows]),
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
