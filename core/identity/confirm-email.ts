import { failed, ok, type Result } from '../base/result.ts'
import { transact } from '../documents/transact.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import { type Account, findAccount } from './accounts.ts'
import { hashCode, isCurrent, newCode } from './codes.ts'
import type { IdentityTerms } from './identity.ts'
import { type Body, parseCredentials } from './parse-credentials.ts'
import { NOT_TAKEN, saveUser, scalarValue } from './save-user.ts'
import { scalarOf } from './user-values.ts'

/** Milliseconds that a mailed link works: three days. */
const LIFETIME = 259_200_000

/** Mails a link to who has not confirmed yet; unknown addresses are answered as if they were known. */
export async function sendEmailConfirmation(
  body: Body,
  terms: IdentityTerms,
): Promise<Result<string, Fault>> {
  const attribute = scalarOf(terms.model.builtIn.user, 'email')
  const parsed = parseCredentials(body, [{ name: 'email', attribute }])
  if (!parsed.ok) return parsed
  const email = parsed.value.email.toLowerCase()
  const account = await findAccount(terms.database, { by: 'email', text: email }, terms)
  if (account?.confirmed) return failed(fault('application', 'Already confirmed'))
  if (account && !account.blocked) terms.background.start(() => mailConfirmation(account, terms))
  return ok(email)
}

export async function mailConfirmation({ documentId, email }: Account, terms: IdentityTerms): Promise<void> {
  const { code, hash } = newCode(LIFETIME, Date.now())
  await terms.database.transaction(transaction =>
    saveUser(
      { documentId, values: new Map([['confirmationToken', scalarValue(hash)]]) },
      NOT_TAKEN,
      transaction,
      terms,
    ),
  )
  const link = `${terms.address}/auth/email-confirmation?confirmation=${code}`
  await terms.mailer({
    to: email,
    subject: 'Confirm your address',
    text: `Follow this link to confirm your address:\n\n${link}\n\nIt works once, for three days.`,
  })
}

/** A link works once. */
export async function confirmEmail(code: unknown, terms: IdentityTerms): Promise<Result<string, Fault>> {
  const wrong = fault('validation', 'Invalid token')
  const given = parseCredentials({ confirmation: code }, [{ name: 'confirmation' }])
  if (!given.ok) return given
  const { confirmation } = given.value
  if (!isCurrent(confirmation, Date.now())) return failed(wrong)
  const confirmed = await transact(
    terms.model.builtIn.user,
    async transaction => {
      const key = { by: 'confirmationToken', text: hashCode(confirmation) } as const
      const account = await findAccount(transaction, key, terms, true)
      if (!account) throw new RequestFault(wrong)
      const values = new Map([
        ['confirmed', scalarValue(true)],
        ['confirmationToken', scalarValue(null)],
      ] as const)
      await saveUser({ documentId: account.documentId, values }, NOT_TAKEN, transaction, terms)
    },
    terms,
  )
  return confirmed.ok ? ok(terms.settings.mail.confirmUrl ?? '/') : confirmed
}
