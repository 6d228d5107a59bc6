import type { Caller } from '../access/caller.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import { verifyPassword } from '../secrets/passwords.ts'
import { type AccountKey, findAccount } from './accounts.ts'
import { endSessions } from './end-sessions.ts'
import type { IdentityTerms, SignedIn } from './identity.ts'
import { type Body, parseCredentials } from './parse-credentials.ts'
import { hashUserValues, NOT_TAKEN, saveUser, scalarValue } from './save-user.ts'
import { signedIn } from './sign-in.ts'
import { scalarOf } from './user-values.ts'
import { writeAccount } from './write-account.ts'

/** Ends every older session: the answer's token is the only one. */
export async function changePassword(
  body: Body,
  { user }: Caller,
  terms: IdentityTerms,
): Promise<Result<SignedIn, Fault>> {
  if (typeof user?.id !== 'number')
    return failed(fault('application', 'You must be authenticated to reset your password'))
  const parsed = parseNewPassword(body, 'currentPassword', terms)
  if (!parsed.ok) return parsed
  const { proof: current, password, passwordConfirmation } = parsed.value
  if (password !== passwordConfirmation) return failed(unlike(passwordConfirmation))
  const key: AccountKey = { by: 'id', id: user.id }
  const account = await findAccount(terms.database, key, terms)
  if (!account || !(await verifyPassword(current, account.password)))
    return failed(fault('validation', 'The provided current password is invalid'))
  if (current === password)
    return failed(fault('validation', 'Your new password must be different than your current password'))
  const gone = fault('validation', 'The provided current password is invalid')
  return setPassword(password, { key, gone, unless: found => found.password !== account.password }, terms)
}

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
  readonly unless: (account: NonNullable<Awaited<ReturnType<typeof findAccount>>>) => boolean
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
