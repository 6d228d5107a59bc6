import { GraphQLScalarType, type ValueNode, valueFromASTUntyped } from 'graphql'
import { graphqlEnumValues } from '../../model/enum-names.ts'
import type { Attribute, Component, Model, ZoneAttribute } from '../../model/model.ts'
import { graphqlTypeName, graphqlZoneName } from '../../model/names.ts'
import { isRecord } from '../../query/parse-place.ts'
import { withoutFiles } from './uploaded-file.ts'

/**
 * The input scalar of a dynamic zone: an entry with the `__typename` of a component (reference/graphql.md#3-scalars, reference/graphql.md#6-writing). It is
 * converted to REST's form; keys that the component does not have are dropped. The document's rules refuse components
 * that the zone does not allow.
 */
export function zoneInput(
  holder: string,
  zone: ZoneAttribute,
  components: Model['components'],
): readonly [string, GraphQLScalarType] {
  const name = `${graphqlZoneName(holder, zone.name)}Input`
  const known = new Map(Array.from(components.values(), each => [graphqlTypeName(each), each]))
  const parse = (given: unknown) => parseEntry(withoutFiles(given, name), zone, known)
  const scalar = new GraphQLScalarType({
    name,
    serialize: value => value,
    parseValue: parse,
    parseLiteral: (node: ValueNode, variables) => parse(valueFromASTUntyped(node, variables)),
  })
  return [name, scalar]
}

/** Throws plain errors, to which graphql-js adds the position and code. */
function parseEntry(given: unknown, zone: ZoneAttribute, known: ReadonlyMap<string, Component>): object {
  if (!isRecord(given)) throw new TypeError('a dynamic zone takes objects with a __typename')
  const { __typename: name } = given
  const component = typeof name === 'string' ? known.get(name) : undefined
  if (!component) {
    const allowed = zone.components.map(graphqlTypeName).join(', ')
    throw new TypeError(`Component not found. expected one of: ${allowed}`)
  }
  return { __component: component.uid, ...fieldsOf(component, given) }
}

/** Values in a zone are unchecked: GraphQL input types end at its scalar. */
function fieldsOf(component: Component, given: Readonly<Record<string, unknown>>) {
  const id = given.id === undefined ? {} : { id: given.id }
  const values = Object.entries(given).flatMap(([key, value]) => {
    const attribute = component.attributes.get(key)
    return attribute && !attribute.system ? [[key, coerce(attribute, value)]] : []
  })
  return { ...id, ...Object.fromEntries(values) }
}

function coerce(attribute: Attribute, value: unknown): unknown {
  if (attribute.kind === 'component')
    return Array.isArray(value)
      ? value.map(each => nested(attribute.component, each))
      : nested(attribute.component, value)
  if (attribute.kind !== 'scalar' || attribute.type !== 'enumeration' || typeof value !== 'string')
    return value
  return graphqlEnumValues(attribute.values ?? []).get(value) ?? value
}

const nested = (component: Component, value: unknown): unknown =>
  isRecord(value) ? fieldsOf(component, value) : value
