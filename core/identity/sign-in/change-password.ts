import { verifyPassword } from '../../base/passwords.ts'
import { retryTransaction } from '../../database/retry-transaction.ts'
import { type Fault, fault, RequestFault } from '../../faults/fault.ts'
import type { AuthCall, IdentityOptions, SignedIn } from '../identity.ts'
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
  options: IdentityOptions,
): Promise<SignedIn> {
  const { user, sessionId } = call.caller
  if (typeof user?.id !== 'number')
    throw new RequestFault(fault('application', 'You must be authenticated to reset your password'))
  const input = parseNewPassword(body, 'currentPassword', options)
  if (input.password !== input.passwordConfirmation)
    throw new RequestFault(mismatchFault(input.passwordConfirmation))
  const key: AccountKey = { by: 'id', id: user.id }
  const account = await findAccount(options.database, key, options)
  if (!account) throw new RequestFault(wrongPassword())
  enforceQuota(await options.loginAttempts.beginChange(account.documentId), call)
  return changeVerified(input, { key, account, sessionId }, options)
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
  options: IdentityOptions,
): Promise<SignedIn> {
  if (!(await verifyPassword(current, account.password))) throw new RequestFault(wrongPassword())
  await options.loginAttempts.succeedChange(account.documentId)
  if (current === password)
    throw new RequestFault(
      fault('validation', 'Your new password must be different than your current password'),
    )
  const unless = (found: Account) => found.password !== account.password
  return setPassword(password, { key, notFound: wrongPassword(), unless, keptSession: sessionId }, options)
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
  { model }: IdentityOptions,
): NewPassword {
  const attribute = requireScalar(model.builtIn.user, 'password')
  const rules = [
    { name: 'password', attribute },
    { name: 'passwordConfirmation', isSecret: true },
    { name: proof, isSecret: proof === 'currentPassword' },
  ] as const
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
  options: IdentityOptions,
): Promise<SignedIn> {
  const hashed = await hashUserValues(new Map([['password', scalarValue(password)]]), options.model)
  const account = await writeAccount(async (transaction, recordEvent) => {
    const account = await findAccount(transaction, key, options, true)
    if (!account || unless(account)) throw new RequestFault(gone)
    const { documentId } = account
    await saveUser({ documentId, values: hashed }, NO_MESSAGES, transaction, options)
    await endSessions(transaction, { documentId, keptSession }, options)
    recordEvent(account, 'update', hashed.keys())
    return { ...account, sessionVersion: account.sessionVersion + 1 }
  }, options)
  return issueSession({ ...account, sessionId: keptSession }, options)
}

/** Milliseconds: codes are valid for one hour. */
const RESET_LIFETIME = 3_600_000

/** Responds before the lookup, so that neither response nor timing reveals an account (reference/safety.md#s8-sessions-and-resets). */
export function forgotPassword(body: AuthBody, options: IdentityOptions): void {
  const attribute = requireScalar(options.model.builtIn.user, 'email')
  const { email } = parseCredentials(body, [{ name: 'email', attribute }])
  options.background.start(() => mailResetCode(email, options))
}

async function mailResetCode(email: string, options: IdentityOptions): Promise<void> {
  const { code, hash } = newCode(RESET_LIFETIME, Date.now())
  const account = await retryTransaction(options.database, async transaction => {
    const found = await findAccount(transaction, { by: 'email', text: email }, options, true)
    if (!found || found.blocked) return null
    const values = new Map([['resetPasswordToken', scalarValue(hash)]])
    await saveUser({ documentId: found.documentId, values }, NO_MESSAGES, transaction, options)
    return found
  })
  if (!account) return
  const { resetUrl } = options.settings.mail
  const data = resetUrl === null ? { code } : { code, link: withCode(resetUrl, code) }
  await options.mail.sendToAccount('reset-password', account.email, data)
}

const withCode = (url: string, code: string): string => `${url}${url.includes('?') ? '&' : '?'}code=${code}`

/** Sets a password by a mailed code. A code works once, for an hour. */
export async function resetPassword(
  body: AuthBody,
  { address }: AuthCall,
  options: IdentityOptions,
): Promise<SignedIn> {
  const { proof: code, password, passwordConfirmation } = parseNewPassword(body, 'code', options)
  const gone = fault('validation', 'Incorrect code provided')
  if (password !== passwordConfirmation) throw new RequestFault(mismatchFault(passwordConfirmation))
  if (!isUnexpired(code, Date.now())) throw new RequestFault(gone)
  const key = { by: 'resetPasswordToken', text: hashCode(code) } as const
  const set = await setPassword(
    password,
    { key, notFound: gone, unless: account => account.blocked },
    options,
  )
  await options.loginAttempts.rememberNetwork({ network: networkOf(address), documentId: set.documentId })
  return set
}
