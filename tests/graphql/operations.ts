import { type FragmentDefinitionNode, Kind, type OperationDefinitionNode, parse } from 'graphql'
import type { Result } from '../../core/base/result.ts'
import type { Fault } from '../../core/faults/fault.ts'
import { buildSchema } from '../../core/graphql/build-schema.ts'
import { collectFields } from '../../core/graphql/collect-fields.ts'
import { argumentsOf } from '../../core/graphql/operation-context.ts'
import type { PageLimits } from '../../core/graphql/parse-page.ts'
import { parseRead } from '../../core/graphql/parse-read.ts'
import { openShadowCrud } from '../../core/graphql/shadow-crud.ts'
import type { Model } from '../../core/model/model.ts'
import type { Query } from '../../core/query/query.ts'

/** What each root field of a query asks of documents. */
export function parseQueries(
  text: string,
  model: Model,
  limits: PageLimits,
): readonly Result<Query, Fault>[] {
  const { schema, rootFields } = buildSchema(model, openShadowCrud(new Map()))
  const { definitions } = parse(text)
  const operation = definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  )
  const fragments = definitions.filter(
    (node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION,
  )
  const context = {
    schema,
    model,
    limits,
    variables: {},
    fragments: Object.fromEntries(fragments.map(node => [node.name.value, node])),
  }
  return [...collectFields([operation?.selectionSet], 'Query', context).values()].map(nodes => {
    const root = rootFields.get(`Query.${nodes[0].name.value}`)
    if (!root) throw new Error(`no ${nodes[0].name.value}`)
    return parseRead({ root, nodes, given: argumentsOf(nodes[0], 'Query', context) }, context)
  })
}
