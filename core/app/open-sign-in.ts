import { failed, ok, type Result } from '../base/result.ts'
import { trimEndCharacter } from '../base/text.ts'
import type { Database } from '../database/database.ts'
import type { Outbox } from '../documents/outbox.ts'
import { openBackground } from '../identity/background.ts'
import type { IdentityTerms } from '../identity/identity.ts'
import { openLoginAttempts } from '../identity/sign-in/login-attempts.ts'
import { openMailer } from '../identity/sign-in/mailer.ts'
import { loadJwtSecret, openSessions } from '../identity/sign-in/sessions.ts'
import type { Observer } from '../observe/observation.ts'
import type { Blueprint } from './compile-app.ts'
import type { StartFault } from './start-fault.ts'

export interface SignInTerms {
  /** Where nothing is made up that a deployment must be given. */
  readonly production: boolean
  readonly observer: Observer
}

/** All that signing in needs but the database, which it may then be opened over. */
export type SignIn = (database: Database, outbox: Outbox) => IdentityTerms

/** Fails where the project does not say with what to sign, or how to mail. */
export async function openSignIn(
  { project, model, storage }: Blueprint,
  { production, observer }: SignInTerms,
): Promise<Result<SignIn, StartFault>> {
  const { root, settings } = project
  const { auth, server, rest } = settings
  const secret = await loadJwtSecret({ given: auth.jwtSecret, root, production })
  const mailer = openMailer({ ...auth.mail, root, production, observer, address: server.url })
  if (!secret.ok || !mailer.ok) return failed(...reasonsOf(secret), ...reasonsOf(mailer))
  return ok((database, outbox) => ({
    database,
    outbox,
    model,
    storage,
    settings: auth,
    sessions: openSessions({ secret: secret.value, lifetime: auth.jwtExpiresIn }),
    mailer: mailer.value,
    loginAttempts: openLoginAttempts(server.rateLimit.account, database),
    background: openBackground(error => observer.emit({ kind: 'failed', requestId: '', error })),
    address: `${trimEndCharacter(server.url, '/')}${rest.prefix}`,
  }))
}

const reasonsOf = (result: Result<unknown, string>): readonly StartFault[] =>
  result.ok ? [] : result.reasons.map(message => ({ kind: 'other', message }))
