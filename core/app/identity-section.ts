import { failed, ok, type Result } from '../base/result.ts'
import { trimEndCharacter } from '../base/text.ts'
import type { Database } from '../database/database.ts'
import type { Outbox } from '../documents/outbox.ts'
import { apiTokenStrategy } from '../identity/api-tokens.ts'
import { openBackground } from '../identity/background.ts'
import { openCallerKeys } from '../identity/callers.ts'
import { createIdentify, withReadYourWrites } from '../identity/identify.ts'
import type { IdentityTerms } from '../identity/identity.ts'
import { openRateLimit } from '../identity/rate-limit.ts'
import { openAuthService } from '../identity/sign-in/auth-service.ts'
import { openLoginAttempts } from '../identity/sign-in/login-attempts.ts'
import { openMailer } from '../identity/sign-in/mailer.ts'
import { sessionStrategy } from '../identity/sign-in/session-strategy.ts'
import { loadJwtSecret, openSessions } from '../identity/sign-in/sessions.ts'
import { openUsersService } from '../identity/users/users-service.ts'
import type { Observer } from '../observe/observation.ts'
import type { Blueprint } from './compile-app.ts'
import type { DocumentsSection } from './documents-section.ts'
import type { StartFault } from './start-fault.ts'

export interface SignInOptions {
  /** Production requires secrets and mail settings; development generates or logs them. */
  readonly production: boolean
  readonly observer: Observer
}

/** Opens sign-in over a database; everything else that it needs is already loaded. */
export type SignIn = (database: Database, outbox: Outbox) => IdentityTerms

/** Loads the JWT secret and the mailer. Fails if the project does not configure them. */
export async function openSignIn(
  { project, model, storage }: Blueprint,
  { production, observer }: SignInOptions,
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

export type IdentitySection = ReturnType<typeof openIdentitySection>

/** Identification of callers, and the services of sign-in and users. */
export function openIdentitySection(
  { project: { settings }, model, storage, access }: Blueprint,
  { identity, documents }: { readonly identity: IdentityTerms; readonly documents: DocumentsSection },
) {
  const { database, sessions } = identity
  const known = createIdentify(access.publicCaller, [
    apiTokenStrategy(settings.apiTokens, access),
    sessionStrategy({
      ...{ sessions, access, database, model, storage },
      // A blocked user must be refused at once, but replicas lag behind.
      cache: database.replicas ? null : documents.cache,
      confirmEmail: settings.auth.register.confirmEmail,
    }),
  ])
  const callers = openCallerKeys()
  const count = openRateLimit(settings.server.rateLimit.auth, database)
  return {
    identify: callers.remembering(database.replicas ? withReadYourWrites(known, settings.apiTokens) : known),
    callerOf: callers.keyFor,
    auth: openAuthService({
      model,
      documents: documents.documents,
      identity,
      count,
    }),
    users: openUsersService({ identity, documents: documents.documents, count }),
  }
}
