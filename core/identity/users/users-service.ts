import type { Caller } from '../../access/caller.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { fault, forbidden, RequestFault } from '../../faults/fault.ts'
import type { Filter, Query, RestrictedQuery, Selection } from '../../query/query.ts'
import type { AuthBody } from '../parse-credentials.ts'
import { requireScalar } from './user-values.ts'
import {
  createUserDocument,
  deleteUserDocument,
  type UserChange,
  type UsersServiceTerms,
  updateUserDocument,
} from './write-users.ts'

/**
 * Users for every protocol (reference/rest.md#14-access), within the caller's permissions: 403 without permission for the action,
 * except `me`. Documents are JSON texts. Only `findMany` respects `take` of a query. Writes return the given `selection`,
 * by default all readable attributes and the role. Refusals are thrown RequestFaults.
 */
export interface UsersService {
  /** Returns a JSON array. */
  findMany(query: Query, caller: Caller): Promise<string>
  /** With a filter, counts only users that the caller may find. */
  count(query: Query, caller: Caller): Promise<number>
  /** null: none visible. */
  findOne(id: number, query: Query, caller: Caller): Promise<string | null>
  /** 401 for the public and for API tokens. */
  me(query: Query, caller: Caller): Promise<string>
  /** Requires username, address, password and role, except what the server sets. null: not readable by the caller. */
  create(body: AuthBody, caller: Caller, selection?: Selection): Promise<string | null>
  /** 404 for an unknown user. A new password ends the sessions; a new address invalidates mailed codes. */
  update(id: number, change: UserChange): Promise<string | null>
  /** Returns the deleted user without the role; null: unknown or not visible. */
  delete(id: number, caller: Caller, selection?: Selection): Promise<string | null>
}

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

async function readUsers(query: Query, caller: Caller, { documents }: ReadUsersTerms): Promise<string> {
  const { text } = await documents.findMany(restrict(query, caller), 'flat')
  return text
}

async function countVisibleUsers(
  query: Query,
  caller: Caller,
  { documents }: ReadUsersTerms,
): Promise<number> {
  const take = { kind: 'many', page: { start: 0, limit: 1 }, total: true } as const
  const { total } = await documents.findMany(restrictCount({ ...query, take }, caller), 'flat')
  return total ?? 0
}

/** Without a filter all users are counted. A filter could reveal values, so it counts only users that the caller may find. */
function restrictCount(query: Query, caller: Caller): RestrictedQuery {
  if (!query.filter && !query.search) return restrict(query, caller, 'count')
  if (!caller.grants.allows('users', 'find')) throw new RequestFault(forbidden())
  return restrict(query, caller, 'find')
}

interface UserRequest {
  readonly query: Query
  readonly caller: Caller
}

const readUserById = (
  id: number,
  { query, caller }: UserRequest,
  terms: ReadUsersTerms,
): Promise<string | null> => readUser(withId(query, id), { caller, action: 'findOne' }, terms)

/** Rejects with 401 for API tokens and the public (reference/rest.md#2-errors). */
async function readMe(query: Query, caller: Caller, terms: ReadUsersTerms): Promise<string> {
  const id = caller.user?.id
  const text =
    typeof id === 'number' ? await readUser(withId(query, id), { caller, action: 'me' }, terms) : null
  if (text === null) throw new RequestFault(fault('unauthorized', 'Unauthorized'))
  return text
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
): Promise<string | null> {
  const { text } = await documents.findMany(restrict(query, caller, action), 'flat')
  return text === '[]' ? null : text.slice(1, -1)
}
