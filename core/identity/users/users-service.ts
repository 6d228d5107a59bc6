import type { Caller } from '../../access/caller.ts'
import type { Result } from '../../base/result.ts'
import type { Fault } from '../../faults/fault.ts'
import type { Query, Selection } from '../../query/query.ts'
import type { Body } from '../parse-credentials.ts'

/**
 * Users, for every protocol alike (contract/rest.md 14), within the permissions of who asks: 403 without that of
 * the action, `me` aside. Documents are JSON texts. Of a query, `take` is heeded by `findMany` alone. A write
 * answers with all that the caller may see and the role, or with the `selection` that is asked for.
 */
export interface UsersService {
  /** A JSON array. */
  findMany(query: Query, caller: Caller): Promise<Result<string, Fault>>
  /** Under a condition only those whom the caller finds are counted. */
  count(query: Query, caller: Caller): Promise<Result<number, Fault>>
  /** null: there is none to see. */
  findOne(id: number, query: Query, caller: Caller): Promise<Result<string | null, Fault>>
  /** 401 for nobody and for programs. */
  me(query: Query, caller: Caller): Promise<Result<string, Fault>>
  /** Asks for name, mail address, password and role, but for what the server sets. null: not for the caller to see. */
  create(body: Body, caller: Caller, selection?: Selection): Promise<Result<string | null, Fault>>
  /** 404 where there is none. A new password ends his sessions, a new mail address what was mailed to the old one. */
  update(id: number, change: UserChange): Promise<Result<string | null, Fault>>
  /** The user as he was, without his role; null: there was none, or none to see. */
  delete(id: number, caller: Caller, selection?: Selection): Promise<Result<string | null, Fault>>
}

export interface UserChange {
  /** Bare, without `data`. */
  readonly body: Body
  readonly caller: Caller
  readonly selection?: Selection | undefined
}
