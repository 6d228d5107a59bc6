import type { Transaction } from '../database/database.ts'
import type { ExplainedUser } from '../explain/answer.ts'
import type { RolesProject } from '../explain/roles-project.ts'
import { isLockedOut, openUserReader, userCaller } from '../identity/sign-in/session-strategy.ts'
import { findAccount } from '../identity/users/accounts.ts'

/** Reads the user whose permissions are explained; null: no such user. `identifier`: a user name or mail address. */
export async function findExplainedUser(
  transaction: Transaction,
  identifier: string,
  { model, storage, access, project }: Omit<RolesProject, 'explainer'>,
): Promise<ExplainedUser | null> {
  const account = await findAccount(transaction, { by: 'identifier', text: identifier }, { model, storage })
  const read = openUserReader({ access, database: transaction, model, storage })
  const values = account && (await read(account.id))
  if (!values) return null
  return {
    role: userCaller(values, access).grants.name,
    values,
    barred: isLockedOut(values, project.settings.auth.register.confirmEmail),
  }
}
