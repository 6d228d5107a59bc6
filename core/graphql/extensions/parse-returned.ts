import type { GraphQLResolveInfo } from 'graphql'
import type { Result } from '../../base/result.ts'
import type { Fault } from '../../faults/fault.ts'
import { graphqlTypeName, graphqlWrapperNames } from '../../model/graphql-names.ts'
import type { Selection } from '../../query/query.ts'
import { fieldsBelow } from '../parse/collect-fields.ts'
import type { OperationContext } from '../parse/operation-context.ts'
import { joined, parseAttributes, parseDocument, parseEntity } from '../parse/parse-selection.ts'
import { fieldKey, keyAbove } from '../resolve/path-keys.ts'
import type { ReturnedType } from './returned-types.ts'

/** What a field that answers with a generated type selects of the rows in it. */
export function parseReturned(
  { wrapper, holder }: ReturnedType,
  { fieldNodes, path }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'path'>,
  context: OperationContext,
): Result<Selection, Fault> {
  const name = graphqlTypeName(holder)
  if (wrapper === 'attributes') {
    const isDocument = holder.holder === 'content-type'
    const keys = isDocument ? { data: keyAbove(path), attributes: fieldKey(path) } : NO_KEYS
    return parseAttributes(holder, fieldsBelow(fieldNodes, name, context), { context, ...keys })
  }
  const fields = fieldsBelow(fieldNodes, graphqlWrapperNames(name)[wrapper], context)
  if (wrapper === 'entity') return joined(parseEntity(holder, fields, { context, data: fieldKey(path) }))
  return parseDocument(holder, fields, context)
}

const NO_KEYS = { data: null, attributes: null } as const
