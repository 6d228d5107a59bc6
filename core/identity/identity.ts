import type { Caller } from '../access/caller.ts'
import type { Result } from '../base/result.ts'
import type { Outbox } from '../documents/outbox.ts'
import type { Fault } from '../faults/fault.ts'
import type { AuthSettings } from '../project/settings/settings.ts'
import type { Background } from './background.ts'
import type { Body } from './parse-credentials.ts'
import type { Quota } from './rate-limit.ts'
import type { Tries } from './sign-in/login-attempts.ts'
import type { Mailer } from './sign-in/mailer.ts'
import type { Sessions } from './sign-in/sessions.ts'
import type { SaveTerms } from './users/save-user.ts'

/** Signing in and all that goes with it (contract/rest.md 14), for REST and GraphQL alike. Bodies are as given. */
export interface Identity {
  /** `network`: where it comes from, as `networkOf` tells it. */
  signIn(body: Body, network: string): Promise<Trial>
  register(body: Body): Promise<Result<SignedIn, Fault>>
  changePassword(body: Body, caller: Caller): Promise<Trial>
  /** Succeeds whoever asks for whom. */
  forgotPassword(body: Body): Promise<Result<null, Fault>>
  resetPassword(body: Body, network: string): Promise<Result<SignedIn, Fault>>
  /** The address, in lower case. */
  sendEmailConfirmation(body: Body): Promise<Result<string, Fault>>
  confirmEmail(code: unknown): Promise<Result<Confirmed, Fault>>
}

export interface Confirmed {
  /** Where the browser goes now. */
  readonly location: string
  readonly documentId: string
}

/** What became of trying a password. */
export interface Trial {
  readonly result: Result<SignedIn, Fault>
  /** Where it is refused for the many tries before it; else null. */
  readonly quota: Quota | null
}

export interface SignedIn {
  /** null: the mail address has to be confirmed first. */
  readonly jwt: string | null
  readonly documentId: string
}

export interface IdentityTerms extends SaveTerms {
  readonly settings: AuthSettings
  readonly sessions: Sessions
  readonly mailer: Mailer
  readonly tries: Tries
  readonly outbox: Outbox
  readonly background: Background
  /** Where the REST API is, for links in mails: `http://localhost:1337/api`. */
  readonly address: string
}
