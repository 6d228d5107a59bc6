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
import { graphqlTypeName } from '../../model/names.ts'
import { DOCUMENT_USES, type GraphqlFormat } from '../formats/format.ts'
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
  /** Fields that lead from one object of a document to the next do not count, as `<Type>.<field>`; nor do counts of lists. */
  readonly uncounted: ReadonlySet<string>
}

export function costTermsOf(model: Model, format: GraphqlFormat, limits: PageLimits): CostTerms {
  const inner = [...model.contentTypes.values()].flatMap(type =>
    DOCUMENT_USES.flatMap(use => {
      const { around, entity } = format.shapeOf(graphqlTypeName(type), use)
      return [
        ...(around ? [`${around.type}.${around.field}`, `${around.type}.${format.pageField}`] : []),
        ...(entity ? [`${entity}.attributes`] : []),
      ]
    }),
  )
  return { limits, uncounted: new Set([...inner, 'ResponseCollectionMeta.pagination']) }
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
    if (field) cost += fieldCost({ field, nodes, parent: type.name }, terms)
  }
  return cost
}

interface SelectedField {
  readonly field: GraphQLField<unknown, unknown>
  readonly nodes: readonly [FieldNode, ...FieldNode[]]
  /** The type that has the field. */
  readonly parent: string
}

function fieldCost({ field, nodes, parent }: SelectedField, terms: CostTerms & CollectTerms): number {
  const type = getNamedType(field.type)
  if (isAbstractType(type)) {
    const costs = terms.schema
      .getPossibleTypes(type)
      .map(possible => fieldsCost(fieldsBelow(nodes, possible.name, terms), possible, terms))
    return listSize(field, nodes[0], terms) * (1 + Math.max(0, ...costs))
  }
  if (!isObjectType(type)) return 0
  const below = fieldsCost(fieldsBelow(nodes, type.name, terms), type, terms)
  return terms.uncounted.has(`${parent}.${field.name}`)
    ? below
    : listSize(field, nodes[0], terms) * (1 + below)
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
