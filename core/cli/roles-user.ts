import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { UserValues } from '../access/condition.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Database, Transaction } from '../database/database.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import { openDatabase } from '../database/open-database.ts'
import { findAccount } from '../identity/accounts.ts'
import { callerOf, isBarred, openUserValues } from '../identity/session-strategy.ts'
import type { RolesProject } from './roles-project.ts'

/** A user as far as his permissions go. */
export interface AskingUser {
  /** The role that requests of his are held to. */
  readonly role: string
  /** What `$user` stands for. */
  readonly values: UserValues
  /** Blocked, or not confirmed where that is asked for: every request of his is refused. */
  readonly barred: boolean
}

/** A user by name or mail address, read from the project's database and nothing written; null: there is none. */
export async function findUser(
  word: string,
  roles: RolesProject,
): Promise<Result<AskingUser | null, string>> {
  const { root, settings } = roles.project
  if (settings.database.url === 'embedded' && !existsSync(join(root, '.plinth', 'database')))
    return failed('the embedded database of this project was never started, so it has no users')
  const opened = await openDatabase(settings.database, { root, observe: () => {} })
  if (!opened.ok) return failed(...opened.reasons.map(({ message }) => message))
  const database = opened.value
  try {
    return ok(await readUser(word, database, roles))
  } catch (error) {
    const fault = toDatabaseFault(error)
    if (!fault) throw error
    return failed(`the database does not answer for users of this project: ${fault.message}`)
  } finally {
    await database.close()
  }
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
  const caller = callerOf(values, access)
  if (!caller.ok) return null
  return {
    role: caller.value.grants.name,
    values,
    barred: isBarred(values, project.settings.auth.register.confirmEmail),
  }
}
