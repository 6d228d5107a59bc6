import { verifyPassword } from '../../base/passwords.ts'
import { retryTransaction } from '../../database/retry-transaction.ts'
import { type Fault, fault, RequestFault } from '../../faults/fault.ts'
import type { AuthCall, IdentityTerms, SignedIn } from '../identity.ts'
import { type AuthBody, parseCredentials } from '../parse-credentials.ts'
import { enforceQuota, networkOf } from '../rate-limit.ts'
import { type Account, type AccountKey, findAccount, writeAccount } from '../users/accounts.ts'
import { hashUserValues, NO_MESSAGES, saveUser, scalarValue } from '../users/save-user.ts'
import { endSessions } from '../users/user-documents.ts'
import { requireScalar } from '../users/user-values.ts'
import { hashCode, isUnexpired, newCode } from './codes.ts'
import { issueSession } from './sign-in.ts'

/** Ends all other sessions. The session that changed the password goes on, with the returned token and with its own. */
export async function changePassword(
  body: AuthBody,
  call: AuthCall,
  terms: IdentityTerms,
): Promise<SignedIn> {
  const { user, sessionId } = call.caller
  if (typeof user?.id !== 'number')
    throw new RequestFault(fault('application', 'You must be authenticated to reset your password'))
  const given = parseNewPassword(body, 'currentPassword', terms)
  if (given.password !== given.passwordConfirmation)
    throw new RequestFault(mismatchFault(given.passwordConfirmation))
  const key: AccountKey = { by: 'id', id: user.id }
  const account = await findAccount(terms.database, key, terms)
  if (!account) throw new RequestFault(wrongPassword())
  enforceQuota(await terms.loginAttempts.beginChange(account.documentId), call)
  return changeVerified(given, { key, account, sessionId }, terms)
}

interface VerifiedAccount {
  readonly key: AccountKey
  readonly account: Account
  readonly sessionId: string | undefined
}

/** The attempt is already counted, and is uncounted only if the password is right. */
async function changeVerified(
  { proof: current, password }: NewPassword,
  { key, account, sessionId }: VerifiedAccount,
  terms: IdentityTerms,
): Promise<SignedIn> {
  if (!(await verifyPassword(current, account.password))) throw new RequestFault(wrongPassword())
  await terms.loginAttempts.succeedChange(account.documentId)
  if (current === password)
    throw new RequestFault(
      fault('validation', 'Your new password must be different than your current password'),
    )
  const unless = (found: Account) => found.password !== account.password
  return setPassword(password, { key, notFound: wrongPassword(), unless, keptSession: sessionId }, terms)
}

const wrongPassword = (): Fault => fault('validation', 'The provided current password is invalid')

function mismatchFault(passwordConfirmation: string): Fault {
  const path = ['passwordConfirmation']
  const errors = [{ path, message: PASSWORD_MISMATCH, name: 'ValidationError', value: passwordConfirmation }]
  return fault('validation', PASSWORD_MISMATCH, { errors })
}

export const PASSWORD_MISMATCH = 'Passwords do not match'

interface NewPassword {
  /** The current password or a code. */
  readonly proof: string
  readonly password: string
  readonly passwordConfirmation: string
}

/** Parses a new password, its confirmation, and the proof: `currentPassword` or `code`. */
export function parseNewPassword(
  body: AuthBody,
  proof: 'currentPassword' | 'code',
  { model }: IdentityTerms,
): NewPassword {
  const attribute = requireScalar(model.builtIn.user, 'password')
  const rules = [{ name: 'password', attribute }, { name: 'passwordConfirmation' }, { name: proof }] as const
  const parsed = parseCredentials<keyof NewPassword | typeof proof>(body, rules)
  return { ...parsed, proof: parsed[proof] }
}

interface PasswordTarget {
  readonly key: AccountKey
  /** Fault if no account has the key any more, or if `unless` holds for it. */
  readonly notFound: Fault
  readonly unless: (account: Account) => boolean
  /** Id of the session that goes on; absent: none. */
  readonly keptSession?: string | undefined
}

/** Sets a password and ends all sessions but `keptSession`. Of two concurrent uses of one key the second fails. */
export async function setPassword(
  password: string,
  { key, notFound: gone, unless, keptSession }: PasswordTarget,
  terms: IdentityTerms,
): Promise<SignedIn> {
  const hashed = await hashUserValues(new Map([['password', scalarValue(password)]]), terms.model)
  const account = await writeAccount(async (transaction, recordEvent) => {
    const account = await findAccount(transaction, key, terms, true)
    if (!account || unless(account)) throw new RequestFault(gone)
    const { documentId } = account
    await saveUser({ documentId, values: hashed }, NO_MESSAGES, transaction, terms)
    await endSessions(transaction, { documentId, keptSession }, terms)
    recordEvent(account, 'update', hashed.keys())
    return { ...account, sessionVersion: account.sessionVersion + 1 }
  }, terms)
  return issueSession({ ...account, sessionId: keptSession }, terms)
}

/** Milliseconds: codes are valid for one hour. */
const RESET_LIFETIME = 3_600_000

/** Responds before the lookup, so that neither response nor timing reveals an account (reference/safety.md#s8-sessions-and-resets). */
export function forgotPassword(body: AuthBody, terms: IdentityTerms): void {
  const attribute = requireScalar(terms.model.builtIn.user, 'email')
  const { email } = parseCredentials(body, [{ name: 'email', attribute }])
  terms.background.start(() => mailResetCode(email, terms))
}

async function mailResetCode(email: string, terms: IdentityTerms): Promise<void> {
  const { code, hash } = newCode(RESET_LIFETIME, Date.now())
  const account = await retryTransaction(terms.database, async transaction => {
    const found = await findAccount(transaction, { by: 'email', text: email }, terms, true)
    if (!found || found.blocked) return null
    const values = new Map([['resetPasswordToken', scalarValue(hash)]])
    await saveUser({ documentId: found.documentId, values }, NO_MESSAGES, transaction, terms)
    return found
  })
  if (!account) return
  const { resetUrl } = terms.settings.mail
  const data = resetUrl === null ? { code } : { code, link: withCode(resetUrl, code) }
  await terms.mail.sendToAccount('reset-password', account.email, data)
}

const withCode = (url: string, code: string): string => `${url}${url.includes('?') ? '&' : '?'}code=${code}`

/** Sets a password by a mailed code. A code works once, for an hour. */
export async function resetPassword(
  body: AuthBody,
  { address }: AuthCall,
  terms: IdentityTerms,
): Promise<SignedIn> {
  const { proof: code, password, passwordConfirmation } = parseNewPassword(body, 'code', terms)
  const gone = fault('validation', 'Incorrect code provided')
  if (password !== passwordConfirmation) throw new RequestFault(mismatchFault(passwordConfirmation))
  if (!isUnexpired(code, Date.now())) throw new RequestFault(gone)
  const key = { by: 'resetPasswordToken', text: hashCode(code) } as const
  const set = await setPassword(password, { key, notFound: gone, unless: account => account.blocked }, terms)
  await terms.loginAttempts.rememberNetwork({ network: networkOf(address), documentId: set.documentId })
  return set
}
