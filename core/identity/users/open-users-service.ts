import type { Caller } from '../../access/caller.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault, forbidden } from '../../faults/fault.ts'
import type { Filter, Query, RestrictedQuery } from '../../query/query.ts'
import { requireScalar } from './user-values.ts'
import type { UsersService, UsersServiceTerms } from './users-service.ts'
import { createUserDocument, deleteUserDocument, updateUserDocument } from './write-users.ts'

export const openUsersService = (terms: UsersServiceTerms): UsersService => ({
  findMany: (query, caller) => readUsers(query, caller, terms),
  count: (query, caller) => countVisibleUsers(query, caller, terms),
  findOne: (id, query, caller) => readUserById(id, { query, caller }, terms),
  me: (query, caller) => readMe(query, caller, terms),
  create: (body, caller, selection) => createUserDocument({ body, caller, selection }, terms),
  update: (id, change) => updateUserDocument(id, change, terms),
  delete: (id, caller, selection) => deleteUserDocument(id, { caller, selection }, terms),
})

type ReadUsersTerms = Pick<UsersServiceTerms, 'documents'>

async function readUsers(
  query: Query,
  caller: Caller,
  { documents }: ReadUsersTerms,
): Promise<Result<string, Fault>> {
  const restricted = restrict(query, caller)
  return restricted.ok ? ok((await documents.findMany(restricted.value, 'flat')).text) : restricted
}

async function countVisibleUsers(
  query: Query,
  caller: Caller,
  { documents }: ReadUsersTerms,
): Promise<Result<number, Fault>> {
  const take = { kind: 'many', page: { start: 0, limit: 1 }, total: true } as const
  const restricted = restrictCount({ ...query, take }, caller)
  if (!restricted.ok) return restricted
  const { total } = await documents.findMany(restricted.value, 'flat')
  return ok(total ?? 0)
}

/** Without a filter all users are counted. A filter could reveal values, so it counts only users that the caller may find. */
function restrictCount(query: Query, caller: Caller): Result<RestrictedQuery, Fault> {
  if (!query.filter && !query.search) return restrict(query, caller, 'count')
  return caller.grants.allows('users', 'find') ? restrict(query, caller, 'find') : failed(forbidden())
}

interface UserRequest {
  readonly query: Query
  readonly caller: Caller
}

const readUserById = (
  id: number,
  { query, caller }: UserRequest,
  terms: ReadUsersTerms,
): Promise<Result<string | null, Fault>> => readUser(withId(query, id), { caller, action: 'findOne' }, terms)

/** Fails with 401 for API tokens and the public (reference/rest.md#2-errors). */
async function readMe(query: Query, caller: Caller, terms: ReadUsersTerms): Promise<Result<string, Fault>> {
  const unauthorized = fault('unauthorized', 'Unauthorized')
  const id = caller.user?.id
  if (typeof id !== 'number') return failed(unauthorized)
  const text = await readUser(withId(query, id), { caller, action: 'me' }, terms)
  if (!text.ok) return text
  return text.value === null ? failed(unauthorized) : ok(text.value)
}

function withId(query: Query, id: number): Query {
  const own: Filter = {
    kind: 'comparison',
    attribute: requireScalar(query.type, 'id'),
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

interface UserRead {
  readonly caller: Caller
  readonly action: 'findOne' | 'me'
}

/** JSON text of the single user; null: none visible. */
async function readUser(
  query: Query,
  { caller, action }: UserRead,
  { documents }: ReadUsersTerms,
): Promise<Result<string | null, Fault>> {
  const restricted = restrict(query, caller, action)
  if (!restricted.ok) return restricted
  const { text } = await documents.findMany(restricted.value, 'flat')
  return ok(text === '[]' ? null : text.slice(1, -1))
}
