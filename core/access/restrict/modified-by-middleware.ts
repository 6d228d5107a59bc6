import { isDeepStrictEqual } from 'node:util'
import { ok, type Result } from '../../base/result.ts'
import type { Fault } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import type { Command, GivenValues, PermittedCommand } from '../../query/command.ts'
import type { Query, RestrictedQuery, Selection } from '../../query/query.ts'
import type { Action } from '../actions.ts'
import { brandCommand } from '../brand.ts'
import type { Caller, ReadAccess } from '../caller.ts'
import { restrict } from './restrict.ts'
import { isPasswordAttribute } from './visible.ts'

/**
 * A query that the server's own code made of a caller's (document middlewares): its conditions and order may
 * name what the caller may not read, but the rows, drafts and attributes that he sees stay his.
 */
export function restrictModified(
  query: Query,
  caller: Caller,
  action?: Action,
): Result<RestrictedQuery, Fault> {
  const rows = restrict({ ...query, selection: NOTHING }, withAllReadable(caller), action)
  if (!rows.ok) return rows
  const seen = restrict({ ...query, filter: null, search: null, sort: [] }, caller, action)
  return seen.ok ? ok({ ...rows.value, selection: seen.value.selection }) : seen
}

const NOTHING: Selection = Object.freeze({ fields: [], named: true, populate: [] })

function withAllReadable(caller: Caller): Caller {
  const { grants } = caller
  return {
    ...caller,
    grants: {
      name: grants.name,
      allows: (subject, action) => grants.allows(subject, action),
      readAccess: (type, action) => readAll(type, grants.readAccess(type, action)),
      writeAccess: (type, action) => grants.writeAccess(type, action),
    },
  }
}

/** Passwords stay out of conditions. */
const readAll = (type: ContentType, view: ReadAccess | null): ReadAccess | null =>
  view && {
    ...view,
    readable: new Set([...type.attributes.values()].filter(each => !isPasswordAttribute(each))),
  }

/**
 * A command after the server's own code changed it: the values that it changed are its own choice, the others
 * stay as they were permitted, with what the server sets, and so do the rows that the caller may write.
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
