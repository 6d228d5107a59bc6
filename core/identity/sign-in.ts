import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'
import { verifyPassword } from '../secrets/passwords.ts'
import { type Account, findAccount } from './accounts.ts'
import type { IdentityTerms, SignedIn } from './identity.ts'
import { type Body, parseCredentials } from './parse-credentials.ts'

/** By name or mail address. Takes as long for an account that is not there, and says no more of it. */
export async function signIn(body: Body, terms: IdentityTerms): Promise<Result<SignedIn, Fault>> {
  const parsed = parseCredentials(body, [{ name: 'identifier' }, { name: 'password' }])
  if (!parsed.ok) return parsed
  const { identifier, password } = parsed.value
  const account = await findAccount(terms.database, { by: 'identifier', text: identifier }, terms)
  const matches = await verifyPassword(password, account?.password ?? null)
  if (!account || !matches) return failed(fault('validation', 'Invalid identifier or password'))
  const barred = whyBarred(account, terms)
  return barred === null ? ok(await signedIn(account, terms)) : failed(fault('application', barred))
}

/** Told only to who knew the password. */
function whyBarred({ confirmed, blocked }: Account, { settings }: IdentityTerms): string | null {
  if (settings.register.confirmEmail && !confirmed) return 'Your account email is not confirmed'
  return blocked ? 'Your account has been blocked by an administrator' : null
}

export const signedIn = async (
  { id, documentId, sessionVersion }: Pick<Account, 'id' | 'documentId' | 'sessionVersion'>,
  { sessions }: Pick<IdentityTerms, 'sessions'>,
): Promise<SignedIn> => ({ documentId, jwt: await sessions.issue({ id, version: sessionVersion }) })
