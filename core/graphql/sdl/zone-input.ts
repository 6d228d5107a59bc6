import { GraphQLError, GraphQLScalarType, type ValueNode, valueFromASTUntyped } from 'graphql'
import { graphqlEnumValue, graphqlTypeName, graphqlZoneName } from '../../model/graphql-names.ts'
import type { Attribute, Component, ZoneAttribute } from '../../model/model.ts'
import { isRecord } from '../../query/parse-place.ts'
import { withoutFiles } from './sent-file.ts'

/**
 * The input of a dynamic zone, by its name: an entry with the `__typename` of one of its components (contract/graphql.md
 * 3 and 6). It becomes the entry that REST takes; what its component does not have is left out.
 */
export function zoneInput(holder: string, zone: ZoneAttribute): readonly [string, GraphQLScalarType] {
  const name = `${graphqlZoneName(holder, zone.name)}Input`
  const components = new Map(zone.components.map(each => [graphqlTypeName(each), each]))
  const parse = (given: unknown) => parseEntry(withoutFiles(given, name), name, components)
  const scalar = new GraphQLScalarType({
    name,
    serialize: value => value,
    parseValue: parse,
    parseLiteral: (node: ValueNode, variables) => parse(valueFromASTUntyped(node, variables)),
  })
  return [name, scalar]
}

function parseEntry(given: unknown, name: string, components: ReadonlyMap<string, Component>): object {
  if (!isRecord(given)) throw new GraphQLError(`${name} cannot represent a value that is no object`)
  const component = components.get(String(given.__typename))
  if (!component) throw refusal(`Component not found. expected one of: ${[...components.keys()].join(', ')}`)
  return { __component: component.uid, ...fieldsOf(component, given) }
}

/** Nothing has looked at these values yet: input types stop at a zone. */
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
  if (attribute.kind !== 'scalar' || attribute.type !== 'enumeration') return value
  return attribute.values?.find(each => graphqlEnumValue(each) === value) ?? value
}

const nested = (component: Component, value: unknown): unknown =>
  isRecord(value) ? fieldsOf(component, value) : value

const refusal = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { error: { name: 'ValidationError', message, details: {} } } })
