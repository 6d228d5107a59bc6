import { failed, type Result } from '../../../core/base/result.ts'
import { findAskingUser } from '../../../core/console/asking-user.ts'
import type { Database } from '../../../core/database/database.ts'
import type { AskingUser } from '../../../core/explain/answer.ts'
import type { RolesProject } from '../../../core/explain/roles-project.ts'
import type { CommandContext } from '../command-terms.ts'
import { isNeverStarted, withDatabase } from '../project-database.ts'

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
  database.transaction(transaction => findAskingUser(transaction, word, roles), { readonly: true })
