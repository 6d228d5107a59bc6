import { failed, type Result } from '../../../core/base/result.ts'
import { findExplainedUser } from '../../../core/console/find-explained-user.ts'
import type { Database } from '../../../core/database/database.ts'
import type { ExplainedUser } from '../../../core/explain/answer.ts'
import type { RolesProject } from '../../../core/explain/roles-project.ts'
import type { CommandContext } from '../command-options.ts'
import { isNeverStarted, withDatabase } from '../project-database.ts'

/** Reads a user by name or mail address, in a read-only transaction; null if there is none. */
export async function findUserByName(
  word: string,
  roles: RolesProject,
  options: Pick<CommandContext, 'writeError' | 'env'>,
): Promise<Result<ExplainedUser | null, string>> {
  if (isNeverStarted(roles.project))
    return failed('the embedded database of this project was never started, so it has no users')
  return withDatabase(roles.project, database => readUser(word, database, roles), options)
}

const readUser = (word: string, database: Database, roles: RolesProject): Promise<ExplainedUser | null> =>
  database.transaction(transaction => findExplainedUser(transaction, word, roles), { readonly: true })
