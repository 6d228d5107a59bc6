import { verifyPassword } from '../../base/passwords.ts'
import { failed, ok } from '../../base/result.ts'
import { fault, tooManyRequests } from '../../faults/fault.ts'
import type { IdentityTerms, SignedIn, Trial } from '../identity.ts'
import { type Body, parseCredentials } from '../parse-credentials.ts'
import { type Account, findAccount } from '../users/accounts.ts'

/** By name or mail address. Takes as long for an account that is not there, and says no more of it. */
export async function signIn(body: Body, network: string, terms: IdentityTerms): Promise<Trial> {
  const parsed = parseCredentials(body, [{ name: 'identifier' }, { name: 'password' }])
  if (!parsed.ok) return { result: parsed, quota: null }
  const { identifier, password } = parsed.value
  const account = await findAccount(terms.database, { by: 'identifier', text: identifier }, terms)
  const place = { network, documentId: account?.documentId ?? null }
  const quota = await terms.tries.begin(identifier, place)
  if (quota) return { result: failed(tooManyRequests()), quota }
  if (!(await verifyPassword(password, account?.password ?? null)) || !account)
    return { result: failed(fault('validation', 'Invalid identifier or password')), quota: null }
  await terms.tries.succeed(identifier, place)
  const barred = whyBarred(account, terms)
  const result = barred === null ? ok(await signedIn(account, terms)) : failed(fault('application', barred))
  return { result, quota: null }
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
