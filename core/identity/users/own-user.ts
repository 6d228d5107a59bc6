import { trusted } from '../../access/brand.ts'
import type { Caller } from '../../access/caller.ts'
import { readableAttributes } from '../../access/restrict/visible.ts'
import type { DocumentReads } from '../../documents/documents.ts'
import type { ContentType, Model } from '../../model/model.ts'
import { allRows, everyField, populateRows } from '../../query/populate-nodes.ts'
import type { Populate } from '../../query/query.ts'
import { ALL_ROWS } from './user-values.ts'

export interface OwnUserTerms {
  readonly model: Model
  readonly documents: Pick<DocumentReads, 'findOne'>
}

/** Whose role is shown: nobody's; or to a caller, as far as he may see roles; or all of it. */
export type RoleShown = Caller | 'none' | 'all'

/** The JSON text of a user as he is shown to himself: all that is not private. `null` where he is gone. */
export async function readOwnUser(
  documentId: string,
  role: RoleShown,
  { model, documents }: OwnUserTerms,
): Promise<string> {
  const { user: type } = model.builtIn
  const visible = readableAttributes(type)
  const fields = everyField(type).fields.filter(field => visible.has(field))
  const query = trusted({
    ...ALL_ROWS,
    type,
    take: { kind: 'one', documentId },
    selection: { fields, named: true, populate: populateRole(type, role) },
  })
  return (await documents.findOne(query, 'flat')) ?? 'null'
}

function populateRole(type: ContentType, shown: RoleShown): readonly Populate[] {
  const role = type.attributes.get('role')
  if (role?.kind !== 'relation' || shown === 'none') return []
  if (shown === 'all') return [populateRows(role, 'named', allRows(role.target))]
  const view = shown.grants.readAccess(role.target, 'find')
  if (view === null || view.where !== null) return []
  const fields = everyField(role.target).fields.filter(field => view.readable.has(field))
  const selection = { fields, named: true, populate: [] }
  return [populateRows(role, 'named', { ...allRows(role.target), selection })]
}
