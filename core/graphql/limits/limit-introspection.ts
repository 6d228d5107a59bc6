import {
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
} from 'graphql'
import {
  type CollectedFields,
  type CollectOptions,
  collectFields,
  fieldsBelow,
} from '../parse/collect-fields.ts'

/** Cost factors of introspecting a schema. */
export interface Introspection {
  /** Average length of introspection's lists by coordinate, such as `__Type.fields`; any other field counts 1. */
  readonly sizes: ReadonlyMap<string, number>
  /** The limit: twice the cost of reading the whole schema. */
  readonly most: number
}

export function openIntrospection(schema: GraphQLSchema): Introspection {
  const sizes = listSizes(Object.values(schema.getTypeMap()), schema)
  const { definitions } = parse(getIntrospectionQuery())
  const fragments = definitions.filter(
    (node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION,
  )
  const options = {
    schema,
    variables: {},
    fragments: Object.fromEntries(fragments.map(node => [node.name.value, node])),
  }
  const costs = definitions.map(node =>
    node.kind === Kind.OPERATION_DEFINITION ? introspectionCost(node, sizes, options) : 0,
  )
  return { sizes, most: 2 * Math.max(...costs) }
}

/** The number of schema elements that an operation requests. */
export function introspectionCost(
  operation: OperationDefinitionNode,
  sizes: Introspection['sizes'],
  options: CollectOptions,
): number {
  const root = options.schema.getRootType(operation.operation)
  if (!root) return 0
  let cost = 0
  for (const nodes of collectFields([operation.selectionSet], root.name, options).values()) {
    const type = ROOTS.get(nodes[0].name.value)
    if (type !== undefined)
      cost += 1 + fieldsCost(fieldsBelow(nodes, type, options), type, { ...options, sizes })
  }
  return cost
}

const ROOTS: ReadonlyMap<string, string> = new Map([
  ['__schema', '__Schema'],
  ['__type', '__Type'],
])

function fieldsCost(
  fields: CollectedFields,
  typeName: string,
  options: CollectOptions & Pick<Introspection, 'sizes'>,
): number {
  const type = options.schema.getType(typeName)
  if (!isObjectType(type)) return 0
  const known = type.getFields()
  let cost = 0
  for (const nodes of fields.values()) {
    const field = known[nodes[0].name.value]
    const below = field ? getNamedType(field.type) : null
    if (!field || !isObjectType(below)) continue
    const size = options.sizes.get(`${typeName}.${field.name}`) ?? 1
    cost += size * (1 + fieldsCost(fieldsBelow(nodes, below.name, options), below.name, options))
  }
  return cost
}

function listSizes(types: readonly GraphQLNamedType[], schema: GraphQLSchema): Introspection['sizes'] {
  const fields = types.flatMap(type =>
    isObjectType(type) || isInterfaceType(type) ? [type.getFields()] : [],
  )
  const inputs = types.flatMap(type => (isInputObjectType(type) ? [type.getFields()] : []))
  const enums = types.flatMap(type => (isEnumType(type) ? [type.getValues()] : []))
  const outputs = fields.flatMap(one => Object.values(one))
  return new Map([
    ['__Schema.types', types.length],
    ['__Schema.directives', schema.getDirectives().length],
    ['__Type.fields', meanLength(fields.map(one => Object.keys(one).length))],
    ['__Type.inputFields', meanLength(inputs.map(one => Object.keys(one).length))],
    ['__Type.enumValues', meanLength(enums.map(({ length }) => length))],
    ['__Field.args', meanLength(outputs.map(({ args }) => args.length))],
  ])
}

/** The average, at least 1. */
const meanLength = (counts: readonly number[]): number =>
  Math.max(1, Math.ceil(counts.reduce((sum, count) => sum + count, 0) / Math.max(1, counts.length)))
