import type { Caller } from '../access/caller.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { transact } from '../documents/transact.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import { verifyPassword } from '../secrets/passwords.ts'
import { type AccountKey, findAccount } from './accounts.ts'
import { endSessions } from './end-sessions.ts'
import type { IdentityTerms, SignedIn } from './identity.ts'
import { type Body, parseCredentials } from './parse-credentials.ts'
import { hashUserValues, NOT_TAKEN, saveUser, scalarValue } from './save-user.ts'
import { signedIn } from './sign-in.ts'
import { scalarOf } from './user-values.ts'

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
  const { first: current, password } = parsed.value
  const key: AccountKey = { by: 'id', id: user.id }
  const account = await findAccount(terms.database, key, terms)
  if (!account || !(await verifyPassword(current, account.password)))
    return failed(fault('validation', 'The provided current password is invalid'))
  if (current === password)
    return failed(fault('validation', 'Your new password must be different than your current password'))
  const gone = fault('validation', 'The provided current password is invalid')
  return setPassword(password, { key, gone, unless: found => found.password !== account.password }, terms)
}

/** A body's password, given twice, and what else it takes to have it set. */
export function parseNewPassword(
  body: Body,
  first: string,
  { model }: IdentityTerms,
): Result<{ readonly first: string; readonly password: string }, Fault> {
  const attribute = scalarOf(model.builtIn.user, 'password')
  const rules = [{ name: first }, { name: 'password', attribute }, { name: 'passwordConfirmation' }]
  const parsed = parseCredentials(body, rules)
  if (!parsed.ok) return parsed
  const { password = '', passwordConfirmation, [first]: proof = '' } = parsed.value
  if (password !== passwordConfirmation) return failed(fault('validation', 'Passwords do not match'))
  return ok({ first: proof, password })
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
  const set = await transact(
    terms.model.builtIn.user,
    async transaction => {
      const account = await findAccount(transaction, key, terms, true)
      if (!account || unless(account)) throw new RequestFault(gone)
      const { documentId } = account
      await saveUser({ documentId, values: hashed }, NOT_TAKEN, transaction, terms)
      await endSessions(transaction, documentId, terms)
      return { ...account, sessionVersion: account.sessionVersion + 1 }
    },
    terms,
  )
  return set.ok ? ok(await signedIn(set.value, terms)) : set
}
