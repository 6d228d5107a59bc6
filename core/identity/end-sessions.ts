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

/** In the transaction of a new mail address: what was mailed to the old one proves nothing of the new one. */
export async function forgetCodes(
  transaction: Pick<Transaction, 'run'>,
  documentId: string,
  { model, storage }: EndTerms,
): Promise<void> {
  const { user } = model.builtIn
  const table = storage.table(user)
  const codes = ['resetPasswordToken', 'confirmationToken'].map(code => name(storage.column(user, code)))
  await transaction.run({
    name: 'forget what was mailed to a user',
    text: `UPDATE ${name(table.name)} SET ${codes.map(code => `${code} = NULL`).join(', ')} WHERE ${name(table.documentId)} = $1::text`,
    values: [documentId],
  })
}
