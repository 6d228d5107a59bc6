import type { Caller } from '../../access/caller.ts'
import type { Result } from '../../base/result.ts'
import type { Documents } from '../../documents/documents.ts'
import type { Fault } from '../../faults/fault.ts'
import type { Query, Selection } from '../../query/query.ts'
import type { IdentityTerms } from '../identity.ts'
import type { AuthBody } from '../parse-credentials.ts'
import type { CountRequest } from '../rate-limit.ts'

/**
 * Users for every protocol (reference/rest.md#14-access), within the caller's permissions: 403 without permission for the action,
 * except `me`. Documents are JSON texts. Only `findMany` respects `take` of a query. Writes return the given `selection`,
 * by default all readable attributes and the role.
 */
export interface UsersService {
  /** Returns a JSON array. */
  findMany(query: Query, caller: Caller): Promise<Result<string, Fault>>
  /** With a filter, counts only users that the caller may find. */
  count(query: Query, caller: Caller): Promise<Result<number, Fault>>
  /** null: none visible. */
  findOne(id: number, query: Query, caller: Caller): Promise<Result<string | null, Fault>>
  /** 401 for the public and for API tokens. */
  me(query: Query, caller: Caller): Promise<Result<string, Fault>>
  /** Requires username, address, password and role, except what the server sets. null: not readable by the caller. */
  create(body: AuthBody, caller: Caller, selection?: Selection): Promise<Result<string | null, Fault>>
  /** 404 for an unknown user. A new password ends the sessions; a new address invalidates mailed codes. */
  update(id: number, change: UserChange): Promise<Result<string | null, Fault>>
  /** Returns the deleted user without the role; null: unknown or not visible. */
  delete(id: number, caller: Caller, selection?: Selection): Promise<Result<string | null, Fault>>
}

export interface UserChange {
  /** Without a `data` wrapper. */
  readonly body: AuthBody
  readonly caller: Caller
  readonly selection?: Selection | undefined
}

/** Dependencies of the users service. */
export interface UsersServiceTerms {
  readonly identity: IdentityTerms
  /** Result of `userDocuments`. */
  readonly documents: Documents
  readonly count: CountRequest
}
