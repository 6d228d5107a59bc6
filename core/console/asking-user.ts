import type { Transaction } from '../database/database.ts'
import type { AskingUser } from '../explain/answer.ts'
import type { RolesProject } from '../explain/roles-project.ts'
import { isLockedOut, openUserValues, userCaller } from '../identity/sign-in/session-strategy.ts'
import { findAccount } from '../identity/users/accounts.ts'

/** Reads a user by name or mail address; null if there is none. */
export async function findAskingUser(
  transaction: Transaction,
  word: string,
  { model, storage, access, project }: Omit<RolesProject, 'explainer'>,
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
