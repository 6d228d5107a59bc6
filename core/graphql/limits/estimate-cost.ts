import {
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  getArgumentValues,
  getNamedType,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
  type OperationDefinitionNode,
} from 'graphql'
import type { Model } from '../../model/model.ts'
import { graphqlTypeName, graphqlWrapperNames } from '../../model/names.ts'
import {
  type CollectedFields,
  type CollectTerms,
  collectFields,
  fieldsBelow,
} from '../parse/collect-fields.ts'
import { type PageLimits, readPage } from '../parse/parse-arguments.ts'

/** Information about the schema that an estimate needs. */
export interface CostTerms {
  readonly limits: PageLimits
  /** Wrapper types of documents, which do not count. */
  readonly wrappers: ReadonlySet<string>
}

export function costTermsOf(model: Model, limits: PageLimits): CostTerms {
  const names = [...model.contentTypes.values()].flatMap(type => {
    const name = graphqlTypeName(type)
    return [name, graphqlWrapperNames(name).entity]
  })
  return { limits, wrappers: new Set([...names, 'ResponseCollectionMeta', 'Pagination']) }
}

/**
 * Estimates how many documents and components an operation may answer: list sizes multiplied along the selection. Lists
 * without `pagination` (dynamic zones, lists of extensions) count with the default size.
 */
export function estimateCost(operation: OperationDefinitionNode, terms: CostTerms & CollectTerms): number {
  const root = terms.schema.getRootType(operation.operation)
  return root ? fieldsCost(collectFields([operation.selectionSet], root.name, terms), root, terms) : 0
}

function fieldsCost(
  fields: CollectedFields,
  type: GraphQLNamedType,
  terms: CostTerms & CollectTerms,
): number {
  if (!isObjectType(type)) return 0
  const known = type.getFields()
  let cost = 0
  for (const nodes of fields.values()) {
    const field = known[nodes[0].name.value]
    if (field) cost += fieldCost(field, nodes, terms)
  }
  return cost
}

function fieldCost(
  field: GraphQLField<unknown, unknown>,
  nodes: readonly [FieldNode, ...FieldNode[]],
  terms: CostTerms & CollectTerms,
): number {
  const type = getNamedType(field.type)
  if (isAbstractType(type)) {
    const costs = terms.schema
      .getPossibleTypes(type)
      .map(possible => fieldsCost(fieldsBelow(nodes, possible.name, terms), possible, terms))
    return listSize(field, nodes[0], terms) * (1 + Math.max(0, ...costs))
  }
  if (!isObjectType(type)) return 0
  const below = fieldsCost(fieldsBelow(nodes, type.name, terms), type, terms)
  return terms.wrappers.has(type.name) ? below : listSize(field, nodes[0], terms) * (1 + below)
}

function listSize(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  { limits, variables }: CostTerms & CollectTerms,
): number {
  if (field.args.some(({ name }) => name === 'pagination')) {
    const page = readPage(getArgumentValues(field, node, variables).pagination, limits)
    return page?.limit ?? limits.amountLimit
  }
  return isListType(getNullableType(field.type)) ? limits.defaultLimit : 1
}
