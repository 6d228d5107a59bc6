import { allowsAll } from '../../access/open-grants.ts'
import { graphqlTypeName } from '../../model/graphql-names.ts'
import type { Holder, LinkAttribute } from '../../model/model.ts'
import type { LinkPopulate } from '../../query/query.ts'
import { markOf } from './field-marks.ts'
import type { OperationContext } from './operation-context.ts'

/** Whether resolversConfig lets the caller over a link without `find` on its target. */
export function openedBy(
  holder: Holder,
  { name }: LinkAttribute,
  { schema, caller }: OperationContext,
): Pick<LinkPopulate, 'opened'> {
  const door = markOf(schema, graphqlTypeName(holder), name)?.door
  if (door?.kind === 'open') return { opened: 'wholly' }
  return door?.kind === 'scope' && caller && allowsAll(caller.grants, door.scopes) ? { opened: 'kept' } : {}
}
