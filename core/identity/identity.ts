import type { Caller } from '../access/caller.ts'
import { withTimeout } from '../base/with-timeout.ts'
import type { Outbox } from '../documents/outbox.ts'
import type { MailService } from '../mail/open-mail.ts'
import type { AuthSettings } from '../project/settings/settings.ts'
import type { QuotaListener } from './rate-limit.ts'
import type { LoginAttempts } from './sign-in/login-attempts.ts'
import type { Sessions } from './sign-in/sessions.ts'
import type { SaveUserOptions } from './users/save-user.ts'

export interface AuthCall extends QuotaListener {
  readonly caller: Caller
  /** Network address of the client: `HttpRequest.peer`. */
  readonly address: string
  /** Registration ignores names that it does not accept, as Strapi 4 does, instead of refusing them. */
  readonly ignoresUnknown?: boolean
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

export interface IdentityOptions extends SaveUserOptions {
  readonly settings: AuthSettings
  readonly sessions: Sessions
  readonly mail: Pick<MailService, 'sendToAccount'>
  readonly loginAttempts: LoginAttempts
  readonly outbox: Outbox
  readonly background: Background
  /** 32 bytes, derived from the secret of sessions: encrypts what sign-in at providers leaves with browsers. */
  readonly sealKey: Uint8Array
  /** Of the other JWT secrets: opens what they sealed. */
  readonly otherSealKeys: readonly Uint8Array[]
  /** URL of the REST API for links in mails: `http://localhost:1337/api`. */
  readonly address: string
}

/**
 * Work that runs after the response, so that response times do not reveal whether an account exists (reference/safety.md#s8-sessions-and-resets). Errors go
 * to `report`.
 */
interface Background {
  start(work: () => Promise<void>): void
  /** Resolves when all started work has ended, or after the timeout. */
  settled(): Promise<void>
}

/** Milliseconds that a shutdown waits for mails. Supervisors often kill a process after ten seconds. */
const SHUTDOWN_TIMEOUT = 5_000

export function openBackground(report: (error: unknown) => void, timeout = SHUTDOWN_TIMEOUT): Background {
  const running = new Set<Promise<void>>()
  return {
    start(work) {
      const run = work()
        .catch(report)
        .finally(() => running.delete(run))
      running.add(run)
    },
    settled: () => withTimeout(timeout, drain(running), undefined),
  }
}

async function drain(running: ReadonlySet<Promise<void>>): Promise<void> {
  while (running.size > 0) await Promise.all(running)
}
