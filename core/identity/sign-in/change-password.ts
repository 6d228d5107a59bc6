import type { Caller } from '../../access/caller.ts'
import { verifyPassword } from '../../base/passwords.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault, RequestFault, tooManyRequests } from '../../faults/fault.ts'
import { endSessions } from '../end-sessions.ts'
import type { IdentityTerms, SignedIn, Trial } from '../identity.ts'
import { type Body, parseCredentials } from '../parse-credentials.ts'
import { type Account, type AccountKey, findAccount } from '../users/accounts.ts'
import { hashUserValues, NOT_TAKEN, saveUser, scalarValue } from '../users/save-user.ts'
import { scalarOf } from '../users/user-values.ts'
import { writeAccount } from '../users/write-account.ts'
import { signedIn } from './sign-in.ts'

/** Ends every older session: the answer's token is the only one. */
export async function changePassword(body: Body, { user }: Caller, terms: IdentityTerms): Promise<Trial> {
  if (typeof user?.id !== 'number')
    return refused(fault('application', 'You must be authenticated to reset your password'))
  const parsed = parseNewPassword(body, 'currentPassword', terms)
  if (!parsed.ok) return { result: parsed, quota: null }
  const { password, passwordConfirmation } = parsed.value
  if (password !== passwordConfirmation) return refused(unlike(passwordConfirmation))
  const key: AccountKey = { by: 'id', id: user.id }
  const account = await findAccount(terms.database, key, terms)
  if (!account) return refused(wrongPassword())
  const quota = await terms.tries.beginChange(account.documentId)
  if (quota) return { result: failed(tooManyRequests()), quota }
  return changeProved(parsed.value, { key, account }, terms)
}

/** The try is counted already, and stays so where the password is wrong. */
async function changeProved(
  { proof: current, password }: NewPassword,
  { key, account }: { readonly key: AccountKey; readonly account: Account },
  terms: IdentityTerms,
): Promise<Trial> {
  if (!(await verifyPassword(current, account.password))) return refused(wrongPassword())
  await terms.tries.succeedChange(account.documentId)
  if (current === password)
    return refused(fault('validation', 'Your new password must be different than your current password'))
  const unless = (found: Account) => found.password !== account.password
  return { result: await setPassword(password, { key, gone: wrongPassword(), unless }, terms), quota: null }
}

const wrongPassword = (): Fault => fault('validation', 'The provided current password is invalid')

const refused = (reason: Fault): Trial => ({ result: failed(reason), quota: null })

/** As the reference tells it here, but not where a code resets a password. */
function unlike(passwordConfirmation: string): Fault {
  const message = 'Passwords do not match'
  const path = ['passwordConfirmation']
  const errors = [{ path, message, name: 'ValidationError', value: passwordConfirmation }]
  return fault('validation', message, { errors })
}

interface NewPassword {
  /** What proves the right to set it. */
  readonly proof: string
  readonly password: string
  readonly passwordConfirmation: string
}

/** A body's password, given twice, and what it takes to have it set: `currentPassword` or `code`. */
export function parseNewPassword(
  body: Body,
  proof: 'currentPassword' | 'code',
  { model }: IdentityTerms,
): Result<NewPassword, Fault> {
  const attribute = scalarOf(model.builtIn.user, 'password')
  const rules = [{ name: 'password', attribute }, { name: 'passwordConfirmation' }, { name: proof }] as const
  const parsed = parseCredentials<keyof NewPassword | typeof proof>(body, rules)
  return parsed.ok ? ok({ ...parsed.value, proof: parsed.value[proof] }) : parsed
}

interface Setting {
  readonly key: AccountKey
  /** Told where nobody has the key any more, or `unless` holds of who has. */
  readonly gone: Fault
  readonly unless: (account: Account) => boolean
}

/** Of two who use one key at the same moment, the second finds it used. */
export async function setPassword(
  password: string,
  { key, gone, unless }: Setting,
  terms: IdentityTerms,
): Promise<Result<SignedIn, Fault>> {
  const hashed = await hashUserValues(new Map([['password', scalarValue(password)]]), terms.model)
  const set = await writeAccount(async (transaction, tell) => {
    const account = await findAccount(transaction, key, terms, true)
    if (!account || unless(account)) throw new RequestFault(gone)
    const { documentId } = account
    await saveUser({ documentId, values: hashed }, NOT_TAKEN, transaction, terms)
    await endSessions(transaction, documentId, terms)
    tell(account, 'update', hashed.keys())
    return { ...account, sessionVersion: account.sessionVersion + 1 }
  }, terms)
  return set.ok ? ok(await signedIn(set.value, terms)) : set
}
