import type { Caller } from '../../access/caller.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault, forbidden } from '../../faults/fault.ts'
import type { Filter, Query, RestrictedQuery } from '../../query/query.ts'
import { scalarOf } from './user-values.ts'
import type { UsersServiceTerms } from './users-terms.ts'

type Terms = Pick<UsersServiceTerms, 'documents'>

export async function findUsers(
  query: Query,
  caller: Caller,
  { documents }: Terms,
): Promise<Result<string, Fault>> {
  const restricted = restrict(query, caller)
  return restricted.ok ? ok((await documents.findMany(restricted.value, 'flat')).text) : restricted
}

export async function countUsers(
  query: Query,
  caller: Caller,
  { documents }: Terms,
): Promise<Result<number, Fault>> {
  const take = { kind: 'many', page: { start: 0, limit: 1 }, total: true } as const
  const restricted = restrictCount({ ...query, take }, caller)
  if (!restricted.ok) return restricted
  const { total } = await documents.findMany(restricted.value, 'flat')
  return ok(total ?? 0)
}

/** Who may not find, counts all there are; under a condition only what the caller finds is counted, for it tells of each. */
function restrictCount(query: Query, caller: Caller): Result<RestrictedQuery, Fault> {
  if (!query.filter && !query.search) return restrict(query, caller, 'count')
  return caller.grants.allows('users', 'find') ? restrict(query, caller, 'find') : failed(forbidden())
}

interface Asked {
  readonly query: Query
  readonly caller: Caller
}

export const findUser = (
  id: number,
  { query, caller }: Asked,
  terms: Terms,
): Promise<Result<string | null, Fault>> => readUser(withId(query, id), { caller, action: 'findOne' }, terms)

/** An API token is nobody (contract/rest.md 2). */
export async function findMe(query: Query, caller: Caller, terms: Terms): Promise<Result<string, Fault>> {
  const nobody = fault('unauthorized', 'Unauthorized')
  const id = caller.user?.id
  if (typeof id !== 'number') return failed(nobody)
  const text = await readUser(withId(query, id), { caller, action: 'me' }, terms)
  if (!text.ok) return text
  return text.value === null ? failed(nobody) : ok(text.value)
}

function withId(query: Query, id: number): Query {
  const own: Filter = {
    kind: 'comparison',
    attribute: scalarOf(query.type, 'id'),
    operator: '$eq',
    values: [id],
  }
  const filters = query.filter ? [own, query.filter] : [own]
  return {
    ...query,
    take: { kind: 'many', page: { start: 0, limit: 1 }, total: false },
    filter: { kind: 'and', filters },
  }
}

interface Reading {
  readonly caller: Caller
  readonly action: 'findOne' | 'me'
}

/** The only user's text; null: there is none to see. */
async function readUser(
  query: Query,
  { caller, action }: Reading,
  { documents }: Terms,
): Promise<Result<string | null, Fault>> {
  const restricted = restrict(query, caller, action)
  if (!restricted.ok) return restricted
  const { text } = await documents.findMany(restricted.value, 'flat')
  return ok(text === '[]' ? null : text.slice(1, -1))
}
