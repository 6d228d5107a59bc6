import type { Caller } from '../access/caller.ts'
import type { Result } from '../base/result.ts'
import type { Outbox } from '../documents/outbox.ts'
import type { Fault } from '../faults/fault.ts'
import type { AuthSettings } from '../project/settings/settings.ts'
import type { Background } from './background.ts'
import type { AuthBody } from './parse-credentials.ts'
import type { Quota } from './rate-limit.ts'
import type { LoginAttempts } from './sign-in/login-attempts.ts'
import type { Mailer } from './sign-in/mailer.ts'
import type { Sessions } from './sign-in/sessions.ts'
import type { SaveUserTerms } from './users/save-user.ts'

/** Sign-in, registration, passwords and e-mail confirmation (reference/rest.md#14-access), for REST and GraphQL. Bodies are unparsed. */
export interface IdentityService {
  /** `network`: result of `networkOf`. */
  signIn(body: AuthBody, network: string): Promise<PasswordAttempt>
  register(body: AuthBody): Promise<Result<SignedIn, Fault>>
  changePassword(body: AuthBody, caller: Caller): Promise<PasswordAttempt>
  /** Succeeds whether or not the account exists. */
  forgotPassword(body: AuthBody): Promise<Result<null, Fault>>
  resetPassword(body: AuthBody, network: string): Promise<Result<SignedIn, Fault>>
  /** Returns the address in lower case. */
  sendEmailConfirmation(body: AuthBody): Promise<Result<string, Fault>>
  confirmEmail(code: unknown): Promise<Result<ConfirmedEmail, Fault>>
}

export interface ConfirmedEmail {
  /** Redirect target of the browser. */
  readonly location: string
  readonly documentId: string
}

/** Result of an attempt with a password. */
export interface PasswordAttempt {
  readonly result: Result<SignedIn, Fault>
  /** Set if the attempt is refused because of too many attempts; else null. */
  readonly quota: Quota | null
}

export interface SignedIn {
  /** null: the e-mail address must be confirmed first. */
  readonly jwt: string | null
  readonly documentId: string
}

export interface IdentityTerms extends SaveUserTerms {
  readonly settings: AuthSettings
  readonly sessions: Sessions
  readonly mailer: Mailer
  readonly loginAttempts: LoginAttempts
  readonly outbox: Outbox
  readonly background: Background
  /** URL of the REST API for links in mails: `http://localhost:1337/api`. */
  readonly address: string
}
