import { failed, ok, type Result } from '../base/result.ts'
import { transactAgain } from '../database/transact-again.ts'
import type { Values } from '../documents/desired-state.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import type { Confirmed, IdentityTerms } from './identity.ts'
import { type Body, parseCredentials } from './parse-credentials.ts'
import { addressIn, type Code, hashCode, isCurrent, newCode } from './sign-in/codes.ts'
import { type Account, findAccount } from './users/accounts.ts'
import { NOT_TAKEN, saveUser, scalarValue } from './users/save-user.ts'
import { scalarOf } from './users/user-values.ts'
import { writeAccount } from './users/write-account.ts'

/** Milliseconds that a mailed link works: three days. */
const LIFETIME = 259_200_000

/** Mails a link to an unconfirmed account. Answers before the lookup, so that the answer does not depend on accounts (safety S8). */
export async function sendEmailConfirmation(
  body: Body,
  terms: IdentityTerms,
): Promise<Result<string, Fault>> {
  const attribute = scalarOf(terms.model.builtIn.user, 'email')
  const parsed = parseCredentials(body, [{ name: 'email', attribute }])
  if (!parsed.ok) return parsed
  const email = parsed.value.email.toLowerCase()
  terms.background.start(async () => {
    const account = await findAccount(terms.database, { by: 'email', text: email }, terms)
    if (account && !account.confirmed && !account.blocked) await mailConfirmation(account, terms)
  })
  return ok(email)
}

/** Nothing is mailed to an address that is no longer the account's: its link would prove the new one. */
export async function mailConfirmation({ documentId, email }: Account, terms: IdentityTerms): Promise<void> {
  const code = newCode(LIFETIME, Date.now())
  const isStill = (account: Account) => account.email === email
  if (await keepCode(code, { documentId, unless: account => !isStill(account) }, terms))
    await mailLink(email, code, terms)
}

/** Mails a link to the address that a user wants to have: it becomes his when he follows it. */
export async function mailAddressChange(
  { documentId }: Account,
  email: string,
  terms: IdentityTerms,
): Promise<void> {
  const code = newCode(LIFETIME, Date.now(), email)
  if (await keepCode(code, { documentId, unless: account => account.blocked }, terms))
    await mailLink(email, code, terms)
}

interface Keeping {
  readonly documentId: string
  readonly unless: (account: Account) => boolean
}

/** The last link that was mailed is the one that works. Whether it was kept. */
function keepCode({ hash }: Code, { documentId, unless }: Keeping, terms: IdentityTerms): Promise<boolean> {
  return transactAgain(terms.database, async transaction => {
    const account = await findAccount(transaction, { by: 'documentId', text: documentId }, terms, true)
    if (!account || unless(account)) return false
    const values = new Map([['confirmationToken', scalarValue(hash)]])
    await saveUser({ documentId, values }, NOT_TAKEN, transaction, terms)
    return true
  })
}

function mailLink(to: string, { code }: Code, { address, mailer }: IdentityTerms): Promise<void> {
  const link = `${address}/auth/email-confirmation?confirmation=${code}`
  const text = `Follow this link to confirm your address:\n\n${link}\n\nIt works once, for three days.`
  return mailer({ to, subject: 'Confirm your address', text })
}

/** A link works once. One that was mailed to a new address makes it the user's. */
export async function confirmEmail(code: unknown, terms: IdentityTerms): Promise<Result<Confirmed, Fault>> {
  const wrong = fault('validation', 'Invalid token')
  const given = parseCredentials({ confirmation: code }, [{ name: 'confirmation' }])
  if (!given.ok) return given
  const { confirmation } = given.value
  if (!isCurrent(confirmation, Date.now())) return failed(wrong)
  const confirmed = await writeAccount(async (transaction, tell) => {
    const key = { by: 'confirmationToken', text: hashCode(confirmation) } as const
    const account = await findAccount(transaction, key, terms, true)
    if (!account) throw new RequestFault(wrong)
    const values = confirming(confirmation)
    await saveUser({ ...account, values }, TAKEN, transaction, terms)
    tell(
      account,
      'update',
      ['confirmed', 'email'].filter(name => values.has(name)),
    )
    return account.documentId
  }, terms)
  if (!confirmed.ok) return confirmed
  return ok({ location: terms.settings.mail.confirmUrl ?? '/', documentId: confirmed.value })
}

const TAKEN = { email: 'Email already taken', username: '' }

function confirming(code: string): Values {
  const confirmed = [
    ['confirmed', scalarValue(true)],
    ['confirmationToken', scalarValue(null)],
  ] as const
  const address = addressIn(code)
  if (address === null) return new Map(confirmed)
  // What was mailed to the old address proves nothing of the new one.
  return new Map([...confirmed, ['email', scalarValue(address)], ['resetPasswordToken', scalarValue(null)]])
}
