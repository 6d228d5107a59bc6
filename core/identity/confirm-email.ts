import type { Caller } from '../access/caller.ts'
import { permitModified } from '../access/restrict/modified-by-middleware.ts'
import { retryTransaction } from '../database/retry-transaction.ts'
import type { Values } from '../documents/desired-state.ts'
import { fault, RequestFault, tooManyRequests } from '../faults/fault.ts'
import type { PermittedCommand, UpdateCommand } from '../query/command.ts'
import type { ConfirmedEmail, IdentityOptions } from './identity.ts'
import { type AuthBody, parseCredentials } from './parse-credentials.ts'
import { type CountRequest, quotaReason } from './rate-limit.ts'
import { addressOfCode, hashCode, isUnexpired, type MailedCode, newCode } from './sign-in/codes.ts'
import { type Account, findAccount, findAmbiguous, lockIdentifiers, writeAccount } from './users/accounts.ts'
import { NO_MESSAGES, saveUser, scalarValue } from './users/save-user.ts'
import { requireScalar } from './users/user-values.ts'

/** Milliseconds: links are valid for three days. */
const CONFIRMATION_LIFETIME = 259_200_000

/**
 * Mails a link to an unconfirmed account. Returns the address in lower case, before the account is looked up, so that the
 * response time reveals no accounts (reference/safety.md#s8-sessions-and-resets).
 */
export function sendEmailConfirmation(body: AuthBody, options: IdentityOptions): string {
  const attribute = requireScalar(options.model.builtIn.user, 'email')
  const parsed = parseCredentials(body, [{ name: 'email', attribute }])
  const email = parsed.email.toLowerCase()
  options.background.start(async () => {
    const account = await findAccount(options.database, { by: 'email', text: email }, options)
    if (account && !account.confirmed && !account.blocked) await mailConfirmation(account, options)
  })
  return email
}

/** Mails a link that confirms the account's address. Mails nothing if the address has changed meanwhile: the link would confirm the new one. */
export async function mailConfirmation(
  { documentId, email }: Account,
  options: IdentityOptions,
): Promise<void> {
  const code = newCode(CONFIRMATION_LIFETIME, Date.now())
  if (await storeCode(code, { documentId, unless: account => account.email !== email }, options))
    await mailConfirmationLink(email, code, options)
}

/** Mails a link to a user's new address. Following it changes the address. */
export async function mailAddressChange(
  { documentId }: Account,
  email: string,
  options: IdentityOptions,
): Promise<void> {
  const code = newCode(CONFIRMATION_LIFETIME, Date.now(), email)
  if (await storeCode(code, { documentId, unless: account => account.blocked }, options))
    await mailConfirmationLink(email, code, options)
}

/** The account that gets a code, unless it has changed since it was read. */
interface CodeOwner {
  readonly documentId: string
  readonly unless: (account: Account) => boolean
}

/** Stores the hash of a code; only the latest code is valid. False if the account is gone or `unless` holds. */
function storeCode(
  { hash }: MailedCode,
  { documentId, unless }: CodeOwner,
  options: IdentityOptions,
): Promise<boolean> {
  return retryTransaction(options.database, async transaction => {
    const account = await findAccount(transaction, { by: 'documentId', text: documentId }, options, true)
    if (!account || unless(account)) return false
    const values = new Map([['confirmationToken', scalarValue(hash)]])
    await saveUser({ documentId, values }, NO_MESSAGES, transaction, options)
    return true
  })
}

function mailConfirmationLink(
  to: string,
  { code }: MailedCode,
  { address, mail }: IdentityOptions,
): Promise<void> {
  const link = `${address}/auth/email-confirmation?confirmation=${code}`
  return mail.sendToAccount('confirm-email', to, { link })
}

/**
 * Confirms an address. A link works once. If it was mailed to a new address, that becomes the user's address. Rejects with a
 * RequestFault if the code is wrong, used or expired, or if another user has the address.
 */
export async function confirmEmail(code: unknown, options: IdentityOptions): Promise<ConfirmedEmail> {
  const wrong = fault('validation', 'Invalid token')
  const { confirmation } = parseCredentials({ confirmation: code }, [{ name: 'confirmation' }])
  if (!isUnexpired(confirmation, Date.now())) throw new RequestFault(wrong)
  const address = addressOfCode(confirmation)
  const documentId = await writeAccount(async (transaction, recordEvent) => {
    // Before the user: in the order of an update, which prevents deadlocks.
    if (address !== null) await lockIdentifiers(transaction, [address])
    const key = { by: 'confirmationToken', text: hashCode(confirmation) } as const
    const account = await findAccount(transaction, key, options, true)
    if (!account) throw new RequestFault(wrong)
    const values = confirmedValues(address)
    if (
      address !== null &&
      (await findAmbiguous({ email: address }, account.documentId, transaction, options))
    )
      throw new RequestFault(TAKEN)
    await saveUser({ ...account, values }, TAKEN_MESSAGES, transaction, options)
    recordEvent(
      account,
      'update',
      ['confirmed', 'email'].filter(name => values.has(name)),
    )
    return account.documentId
  }, options)
  return { location: options.settings.mail.confirmUrl ?? '/', documentId }
}

const TAKEN = fault('application', 'Email already taken')
const TAKEN_MESSAGES = { email: TAKEN.message, username: '' }

function confirmedValues(address: string | null): Values {
  const confirmed = [
    ['confirmed', scalarValue(true)],
    ['confirmationToken', scalarValue(null)],
  ] as const
  if (address === null) return new Map(confirmed)
  // Reset codes mailed to the old address are invalid now.
  return new Map([...confirmed, ['email', scalarValue(address)], ['resetPasswordToken', scalarValue(null)]])
}

type AddressUpdate = PermittedCommand<UpdateCommand>

interface AddressChange {
  /** The update to run now. */
  readonly command: AddressUpdate
  /** Sends the mail, after the update. */
  mail(): void
}

interface AddressChangeRequest {
  /** null: no such user. */
  readonly account: Account | null
  readonly caller: Caller
}

interface AddressChangeOptions {
  readonly identity: IdentityOptions
  readonly countAttempt: CountRequest
}

/**
 * Users who change their own address keep the old one until they follow the link mailed to the new one, if addresses are
 * confirmed: a typo must not lock them out. Callers who write other users set the address immediately. Rejects with a
 * RequestFault if the address is taken or its mail limit is reached.
 */
export async function startAddressChange(
  command: AddressUpdate,
  { account, caller }: AddressChangeRequest,
  { identity, countAttempt }: AddressChangeOptions,
): Promise<AddressChange> {
  if (account === null) return { command, mail: () => {} }
  const { email: input, confirmed } = command.values
  const email = typeof input === 'string' ? input.toLowerCase() : account.email
  const isOwn = caller.user?.id === account.id && confirmed === undefined
  if (!identity.settings.register.confirmEmail || !isOwn || email === account.email)
    return { command, mail: () => {} }
  const quota = await countAttempt([`mail ${email} changeEmail`])
  if (quota && !quota.allowed) throw new RequestFault(tooManyRequests(quotaReason(quota)))
  const found = await findAccount(identity.database, { by: 'identifier', text: email }, identity)
  if (found && found.id !== account.id) throw new RequestFault(TAKEN)
  return {
    command: withoutAddress(command),
    mail: () => identity.background.start(() => mailAddressChange(account, email, identity)),
  }
}

function withoutAddress(command: AddressUpdate): AddressUpdate {
  const { email: _email, ...values } = command.values
  return permitModified({ ...command, values }, command, command)
}
