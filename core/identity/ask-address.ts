import type { Caller } from '../access/caller.ts'
import { permitModified } from '../access/restrict/modified-by-middleware.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault, tooManyRequests } from '../faults/fault.ts'
import type { PermittedCommand, UpdateCommand } from '../query/command.ts'
import { mailAddressChange } from './confirm-email.ts'
import { type Account, findAccount } from './users/accounts.ts'
import type { UsersServiceTerms } from './users/users-terms.ts'

type Update = PermittedCommand<UpdateCommand>

interface Moving {
  /** What is left to be done now. */
  readonly command: Update
  /** After that. */
  mail(): void
}

interface Asking {
  /** null: there is no such user. */
  readonly account: Account | null
  readonly caller: Caller
}

/**
 * Who changes his own mail address where addresses are confirmed keeps the old one until he follows the link that is
 * mailed to the new one: a slip of his must not shut him out. Others, who vouch for the new one, write it at once.
 */
export async function askAddress(
  command: Update,
  { account, caller }: Asking,
  { identity, count }: UsersServiceTerms,
): Promise<Result<Moving, Fault>> {
  if (account === null) return ok({ command, mail: () => {} })
  const { email: given, confirmed } = command.values
  const email = typeof given === 'string' ? given.toLowerCase() : account.email
  const isOwn = caller.user?.id === account.id && confirmed === undefined
  if (!identity.settings.register.confirmEmail || !isOwn || email === account.email)
    return ok({ command, mail: () => {} })
  const quota = await count([`mail ${email} changeEmail`])
  if (quota && !quota.allowed) return failed(tooManyRequests())
  if (await findAccount(identity.database, { by: 'email', text: email }, identity))
    return failed(fault('application', 'Email already taken'))
  return ok({
    command: withoutAddress(command),
    mail: () => identity.background.start(() => mailAddressChange(account, email, identity)),
  })
}

function withoutAddress(command: Update): Update {
  const { email: _email, ...values } = command.values
  return permitModified({ ...command, values }, command, command)
}
