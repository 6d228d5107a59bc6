import type { Transaction } from '../database/database.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'

export interface EndTerms {
  readonly model: Model
  readonly storage: Storage
}

/** In the transaction of a new password: ends older sessions, and what was mailed to make another (safety S8). */
export async function endSessions(
  transaction: Pick<Transaction, 'run'>,
  documentId: string,
  { model, storage }: EndTerms,
): Promise<void> {
  const { user } = model.builtIn
  const table = storage.table(user)
  const version = name(storage.column(user, 'sessionVersion'))
  const token = name(storage.column(user, 'resetPasswordToken'))
  await transaction.run({
    name: 'end the sessions of a user',
    text: `UPDATE ${name(table.name)} SET ${version} = coalesce(${version}, 0) + 1, ${token} = NULL WHERE ${name(table.documentId)} = $1::text`,
    values: [documentId],
  })
}
