import { type FragmentDefinitionNode, Kind, type OperationDefinitionNode, parse } from 'graphql'
import { compileGraphqlSchema } from '../../core/graphql/compile-schema.ts'
import { FORMATS, type FormatName } from '../../core/graphql/formats/format.ts'
import { collectFields } from '../../core/graphql/parse/collect-fields.ts'
import { fieldArguments } from '../../core/graphql/parse/operation-context.ts'
import type { PageLimits } from '../../core/graphql/parse/parse-arguments.ts'
import { parseRead } from '../../core/graphql/parse/parse-read.ts'
import type { Model } from '../../core/model/model.ts'
import type { Query } from '../../core/query/query.ts'

/** The calls of the documents service for each root field of a query. */
export function parseQueries(
  text: string,
  model: Model,
  limits: PageLimits,
  format: FormatName = 'nested',
): readonly Query[] {
  const compiled = compileGraphqlSchema({
    format,
    model,
    shadow: new Map(),
    entityId: 'document',
    generatesTypes: true,
    extensions: null,
  })
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.reasons))
  const { schema, roots } = compiled.value
  const { definitions } = parse(text)
  const operation = definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  )
  const fragments = definitions.filter(
    (node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION,
  )
  const context = {
    format: FORMATS[format],
    schema,
    model,
    limits,
    variables: {},
    fragments: Object.fromEntries(fragments.map(node => [node.name.value, node])),
  }
  return [...collectFields([operation?.selectionSet], 'Query', context).values()].map(nodes => {
    const root = roots.find(({ root: on, name }) => on === 'Query' && name === nodes[0].name.value)
    if (!root) throw new Error(`no ${nodes[0].name.value}`)
    return parseRead({ root, nodes, args: fieldArguments(nodes[0], 'Query', context) }, context)
  })
}
