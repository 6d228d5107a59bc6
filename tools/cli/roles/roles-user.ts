import type { UserValues } from '../../../core/access/compile/condition.ts'
import { failed, type Result } from '../../../core/base/result.ts'
import type { Database, Transaction } from '../../../core/database/database.ts'
import { isLockedOut, openUserValues, userCaller } from '../../../core/identity/sign-in/session-strategy.ts'
import { findAccount } from '../../../core/identity/users/accounts.ts'
import type { CommandContext } from '../command-terms.ts'
import { isNeverStarted, withDatabase } from '../project-database.ts'
import type { RolesProject } from './roles-project.ts'

/** The parts of a user that permissions need. */
export interface AskingUser {
  /** The role whose permissions apply to the user's requests. */
  readonly role: string
  /** The values of `$user`. */
  readonly values: UserValues
  /** Blocked, or not confirmed although required: every request of the user is refused. */
  readonly barred: boolean
}

/** Reads a user by name or mail address, in a read-only transaction; null if there is none. */
export async function findUserByName(
  word: string,
  roles: RolesProject,
  terms: Pick<CommandContext, 'complain' | 'env'>,
): Promise<Result<AskingUser | null, string>> {
  if (isNeverStarted(roles.project))
    return failed('the embedded database of this project was never started, so it has no users')
  return withDatabase(roles.project, database => readUser(word, database, roles), {
    ...terms,
    failureMessage: 'the database does not answer for users of this project',
  })
}

const readUser = (word: string, database: Database, roles: RolesProject): Promise<AskingUser | null> =>
  database.transaction(transaction => readIn(transaction, word, roles), { readonly: true })

async function readIn(
  transaction: Transaction,
  word: string,
  { model, storage, access, project }: RolesProject,
): Promise<AskingUser | null> {
  const account = await findAccount(transaction, { by: 'identifier', text: word }, { model, storage })
  const read = openUserValues({ access, database: transaction, model, storage })
  const values = account && (await read(account.id))
  if (!values) return null
  return {
    role: userCaller(values, access).grants.name,
    values,
    barred: isLockedOut(values, project.settings.auth.register.confirmEmail),
  }
}
