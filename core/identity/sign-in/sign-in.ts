import { verifyPassword } from '../../base/passwords.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import type { AuthCall, IdentityOptions, SignedIn } from '../identity.ts'
import { type AuthBody, parseCredentials } from '../parse-credentials.ts'
import { enforceQuota, networkOf } from '../rate-limit.ts'
import { type Account, findAccount } from '../users/accounts.ts'

/** Signs in by username or address. Timing and response are the same for an unknown account. */
export async function signIn(body: AuthBody, call: AuthCall, options: IdentityOptions): Promise<SignedIn> {
  const { identifier, password } = parseCredentials(body, [
    { name: 'identifier' },
    { name: 'password', isSecret: true },
  ])
  const account = await findAccount(options.database, { by: 'identifier', text: identifier }, options)
  const origin = { network: networkOf(call.address), documentId: account?.documentId ?? null }
  enforceQuota(await options.loginAttempts.begin(identifier, origin), call)
  if (!(await verifyPassword(password, account?.password ?? null)) || !account)
    throw new RequestFault(fault('validation', 'Invalid identifier or password'))
  await options.loginAttempts.succeed(identifier, origin)
  const barred = lockoutReason(account, options)
  if (barred !== null) throw new RequestFault(fault('application', barred))
  return issueSession(account, options)
}

/** Reported only after the right password. */
function lockoutReason({ confirmed, blocked }: Account, { settings }: IdentityOptions): string | null {
  if (settings.register.confirmEmail && !confirmed) return 'Your account email is not confirmed'
  return blocked ? 'Your account has been blocked by an administrator' : null
}

interface SessionUser extends Pick<Account, 'id' | 'documentId' | 'sessionVersion'> {
  /** Absent: a new session. */
  readonly sessionId?: string | undefined
}

export const issueSession = async (
  { id, documentId, sessionVersion, sessionId }: SessionUser,
  { sessions }: Pick<IdentityOptions, 'sessions'>,
): Promise<SignedIn> => ({
  documentId,
  jwt: await sessions.issue({ id, version: sessionVersion, ...(sessionId !== undefined && { sessionId }) }),
})
