import type { Caller } from '../access/caller.ts'
import type { Outbox } from '../documents/outbox.ts'
import type { AuthSettings } from '../project/settings/settings.ts'
import type { Background } from './background.ts'
import type { QuotaListener } from './rate-limit.ts'
import type { LoginAttempts } from './sign-in/login-attempts.ts'
import type { Mailer } from './sign-in/mailer.ts'
import type { Sessions } from './sign-in/sessions.ts'
import type { SaveUserTerms } from './users/save-user.ts'

export interface AuthCall extends QuotaListener {
  readonly caller: Caller
  /** Network address of the client: `HttpRequest.peer`. */
  readonly address: string
}

export interface ConfirmedEmail {
  /** Redirect target of the browser. */
  readonly location: string
  readonly documentId: string
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
