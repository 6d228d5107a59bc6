import { isDeepStrictEqual } from 'node:util'
import type { ContentType } from '../../model/model.ts'
import type { Command, GivenValues, PermittedCommand } from '../../query/command.ts'
import type { Query, RestrictedQuery, Selection } from '../../query/query.ts'
import type { Action } from '../actions.ts'
import { brandCommand } from '../brand.ts'
import type { Caller, ReadAccess } from '../caller.ts'
import { isPasswordAttribute } from '../readable-attributes.ts'
import { restrict } from './restrict.ts'

/**
 * Restricts a caller's query that document middlewares have changed: its conditions and sorts may use attributes that
 * the caller may not read, but searches, rows, drafts and returned attributes stay limited to the permissions of the caller.
 */
export function restrictModified(query: Query, caller: Caller, action?: Action): RestrictedQuery {
  const rows = restrict({ ...query, selection: NO_SELECTION }, withAllReadable(caller), action)
  const seen = restrict({ ...query, filter: null, sort: [] }, caller, action)
  // Searches cover what the caller may read: their text is usually the caller's own.
  const { selection, search, textSearch } = seen
  return { ...rows, selection, search, ...(textSearch && { textSearch }) }
}

const NO_SELECTION: Selection = Object.freeze({ fields: [], named: true, populate: [] })

function withAllReadable(caller: Caller): Caller {
  const { grants } = caller
  return {
    ...caller,
    grants: {
      name: grants.name,
      roleRules: grants.roleRules,
      allows: (subject, action) => grants.allows(subject, action),
      readAccess: (type, action) => readAll(type, grants.readAccess(type, action)),
      writeAccess: (type, action) => grants.writeAccess(type, action),
    },
  }
}

/** Not even project code may filter by passwords. */
const readAll = (type: ContentType, view: ReadAccess | null): ReadAccess | null =>
  view && {
    ...view,
    readable: new Set([...type.attributes.values()].filter(each => !isPasswordAttribute(each))),
  }

/**
 * A permitted command after project code changed it: changed values are not checked against the caller. Unchanged
 * values, values that the server sets and the conditions on rows stay as permitted.
 */
export function permitModified<Kind extends Command & { readonly values: GivenValues }>(
  after: Kind,
  before: Kind,
  { values, conditions, by }: PermittedCommand<Kind>,
): PermittedCommand<Kind> {
  const kept = Object.entries(values).filter(
    ([name]) => !Object.hasOwn(before.values, name) || Object.hasOwn(after.values, name),
  )
  const changed = Object.entries(after.values).filter(
    ([name, value]) => !isDeepStrictEqual(value, before.values[name]),
  )
  return brandCommand({ ...after, values: Object.fromEntries([...kept, ...changed]) }, conditions, by)
}
