import { verifyPassword } from '../../base/passwords.ts'
import { failed, ok } from '../../base/result.ts'
import { fault, tooManyRequests } from '../../faults/fault.ts'
import type { IdentityTerms, PasswordAttempt, SignedIn } from '../identity.ts'
import { type AuthBody, parseCredentials } from '../parse-credentials.ts'
import { type Account, findAccount } from '../users/accounts.ts'

/** Signs in by username or address. Timing and response are the same for an unknown account. */
export async function signIn(
  body: AuthBody,
  network: string,
  terms: IdentityTerms,
): Promise<PasswordAttempt> {
  const parsed = parseCredentials(body, [{ name: 'identifier' }, { name: 'password' }])
  if (!parsed.ok) return { result: parsed, quota: null }
  const { identifier, password } = parsed.value
  const account = await findAccount(terms.database, { by: 'identifier', text: identifier }, terms)
  const place = { network, documentId: account?.documentId ?? null }
  const quota = await terms.loginAttempts.begin(identifier, place)
  if (quota) return { result: failed(tooManyRequests()), quota }
  if (!(await verifyPassword(password, account?.password ?? null)) || !account)
    return { result: failed(fault('validation', 'Invalid identifier or password')), quota: null }
  await terms.loginAttempts.succeed(identifier, place)
  const barred = lockoutReason(account, terms)
  const result =
    barred === null ? ok(await issueSession(account, terms)) : failed(fault('application', barred))
  return { result, quota: null }
}

/** Reported only after the right password. */
function lockoutReason({ confirmed, blocked }: Account, { settings }: IdentityTerms): string | null {
  if (settings.register.confirmEmail && !confirmed) return 'Your account email is not confirmed'
  return blocked ? 'Your account has been blocked by an administrator' : null
}

export const issueSession = async (
  { id, documentId, sessionVersion }: Pick<Account, 'id' | 'documentId' | 'sessionVersion'>,
  { sessions }: Pick<IdentityTerms, 'sessions'>,
): Promise<SignedIn> => ({ documentId, jwt: await sessions.issue({ id, version: sessionVersion }) })
