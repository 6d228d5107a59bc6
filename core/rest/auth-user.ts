import type { Caller } from '../access/caller.ts'
import { trusted } from '../access/trusted.ts'
import { visibleAttributes } from '../access/visible.ts'
import { ALL_ROWS } from '../identity/user-values.ts'
import type { ContentType } from '../model/model.ts'
import type { Populate } from '../query/query.ts'
import { everyField } from './parse-fields.ts'
import { populateRows } from './populate-nodes.ts'
import type { RestTerms } from './visit.ts'

interface Shown {
  readonly caller: Caller
  /** Where the caller may see roles. */
  readonly withRole: boolean
}

/** The JSON text of the user who signs in, as he is shown to himself: all that is not private. */
export async function readOwnUser(
  documentId: string,
  { caller, withRole }: Shown,
  { model, documents }: RestTerms,
): Promise<string> {
  const { user: type } = model.builtIn
  const visible = visibleAttributes(type)
  const fields = everyField(type).fields.filter(field => visible.has(field))
  const populate = withRole ? populateRole(type, caller) : []
  const query = trusted({
    ...ALL_ROWS,
    type,
    take: { kind: 'one', documentId },
    selection: { fields, named: true, populate },
  })
  return (await documents.findOne(query, 'flat')) ?? 'null'
}

function populateRole(type: ContentType, { grants }: Caller): readonly Populate[] {
  const role = type.attributes.get('role')
  if (role?.kind !== 'relation') return []
  const view = grants.view(role.target, 'find')
  if (view === null || view.where !== null) return []
  const fields = everyField(role.target).fields.filter(field => view.readable.has(field))
  const selection = { fields, named: true, populate: [] }
  return [populateRows(role, 'named', { selection, filter: null, sort: [], count: false })]
}
