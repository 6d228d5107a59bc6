import { failed, ok, type Result } from '../../base/result.ts'
import { transactAgain } from '../../database/transact-again.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import type { IdentityTerms, SignedIn } from '../identity.ts'
import { type Body, parseCredentials } from '../parse-credentials.ts'
import { findAccount } from '../users/accounts.ts'
import { NOT_TAKEN, saveUser, scalarValue } from '../users/save-user.ts'
import { scalarOf } from '../users/user-values.ts'
import { parseNewPassword, setPassword } from './change-password.ts'
import { hashCode, isCurrent, newCode } from './codes.ts'

/** Milliseconds that a mailed code works: one hour. */
const LIFETIME = 3_600_000

/** Answers before it looks, so that neither words nor time tell whether there is an account (safety S8). */
export async function forgotPassword(body: Body, terms: IdentityTerms): Promise<Result<null, Fault>> {
  const attribute = scalarOf(terms.model.builtIn.user, 'email')
  const parsed = parseCredentials(body, [{ name: 'email', attribute }])
  if (!parsed.ok) return parsed
  terms.background.start(() => mailReset(parsed.value.email, terms))
  return ok(null)
}

async function mailReset(email: string, terms: IdentityTerms): Promise<void> {
  const { code, hash } = newCode(LIFETIME, Date.now())
  const account = await transactAgain(terms.database, async transaction => {
    const found = await findAccount(transaction, { by: 'email', text: email }, terms, true)
    if (!found || found.blocked) return null
    const values = new Map([['resetPasswordToken', scalarValue(hash)]])
    await saveUser({ documentId: found.documentId, values }, NOT_TAKEN, transaction, terms)
    return found
  })
  if (!account) return
  const { resetUrl } = terms.settings.mail
  const how = resetUrl === null ? `Use this code: ${code}` : `Follow this link: ${withCode(resetUrl, code)}`
  await terms.mailer({
    to: account.email,
    subject: 'Reset your password',
    text: `Somebody, hopefully you, forgot the password of this address.\n\n${how}\n\nIt works once, for an hour.`,
  })
}

const withCode = (url: string, code: string): string => `${url}${url.includes('?') ? '&' : '?'}code=${code}`

/** A mailed code works once and for an hour. */
export async function resetPassword(
  body: Body,
  network: string,
  terms: IdentityTerms,
): Promise<Result<SignedIn, Fault>> {
  const parsed = parseNewPassword(body, 'code', terms)
  if (!parsed.ok) return parsed
  const gone = fault('validation', 'Incorrect code provided')
  const { proof: code, password, passwordConfirmation } = parsed.value
  if (password !== passwordConfirmation) return failed(fault('validation', 'Passwords do not match'))
  if (!isCurrent(code, Date.now())) return failed(gone)
  const key = { by: 'resetPasswordToken', text: hashCode(code) } as const
  const set = await setPassword(password, { key, gone, unless: account => account.blocked }, terms)
  if (set.ok) await terms.tries.know({ network, documentId: set.value.documentId })
  return set
}
