import type { BUILT_IN_ACTIONS } from '../../access/actions.ts'
import type { Caller } from '../../access/caller.ts'
import type { Result } from '../../base/result.ts'
import type { Fault } from '../../faults/fault.ts'
import type { Body } from '../parse-credentials.ts'
import type { Quota } from '../rate-limit.ts'

/**
 * Signing in and all that goes with it, for every protocol alike (contract/rest.md 14, graphql.md 7): bodies are
 * parsed and checked, requests are counted, answers are made. Whether the caller may ask is for the protocol to
 * say (`caller.grants.allows('auth', operation)`).
 */
export interface AuthService {
  /** `count`, then `perform`: over the limit, `rateLimit` is the fault and nothing is done. */
  ask<Operation extends AuthOperation>(
    operation: Operation,
    body: Body,
    call: AuthCall,
  ): Promise<Result<AuthAnswers[Operation], Fault>>
  /** Counts a request of a network address. null: there is no limit. For who has to count before he knows the body. */
  count(operation: AuthOperation, address: string): Promise<Quota | null>
  /** Does what is asked. Mail addresses that something is sent to, and tries of passwords by user, count here. */
  perform<Operation extends AuthOperation>(
    operation: Operation,
    body: Body,
    call: AuthCall,
  ): Promise<Performed<AuthAnswers[Operation]>>
  /** The JSON text of who asks, with his role, whatever he may see of roles; 403 for nobody and for programs. */
  me(caller: Caller): Promise<Result<string, Fault>>
}

/** By the names of their permissions. */
export type AuthOperation = (typeof BUILT_IN_ACTIONS.auth)[number]

export interface AuthCall {
  readonly caller: Caller
  /** The network address that asks: `HttpRequest.peer`. */
  readonly address: string
}

export interface AuthAnswers {
  readonly login: SessionAnswer
  readonly register: SessionAnswer
  readonly changePassword: SessionAnswer
  readonly resetPassword: SessionAnswer
  readonly forgotPassword: { readonly ok: true }
  readonly sendEmailConfirmation: { readonly email: string; readonly sent: true }
  /** Of the body `{ confirmation }`. Where the browser goes now, and the JSON text of who is confirmed: no session. */
  readonly emailConfirmation: { readonly location: string; readonly user: string }
}

export interface SessionAnswer {
  /** null: the mail address has to be confirmed first. */
  readonly jwt: string | null
  /** JSON text: all of him that is not private, with his role after registering, where the caller may see roles. */
  readonly user: string
}

export interface Performed<Answer> {
  readonly result: Result<Answer, Fault>
  /** How a narrower limit stands, such as that of a mail address; null: there is nothing to be told. */
  readonly quota: Quota | null
}
