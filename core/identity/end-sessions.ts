import type { Transaction } from '../database/database.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'

export interface EndTerms {
  readonly model: Model
  readonly storage: Storage
}

/**
 * In the transaction of a new password: ends older sessions, and what was mailed to make another, or to change the
 * address to one of somebody's who had a session (safety S8).
 */
export async function endSessions(
  transaction: Pick<Transaction, 'run'>,
  documentId: string,
  { model, storage }: EndTerms,
): Promise<void> {
  const { user } = model.builtIn
  const table = storage.table(user)
  const version = name(storage.column(user, 'sessionVersion'))
  const codes = codesOf(storage, user)
  await transaction.run({
    name: 'end the sessions of a user',
    text: `UPDATE ${name(table.name)} SET ${version} = coalesce(${version}, 0) + 1, ${codes} WHERE ${name(table.documentId)} = $1::text`,
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
  await transaction.run({
    name: 'forget what was mailed to a user',
    text: `UPDATE ${name(table.name)} SET ${codesOf(storage, user)} WHERE ${name(table.documentId)} = $1::text`,
    values: [documentId],
  })
}

interface AddressedUser {
  readonly documentId: string
  readonly email: string
  /** The hash; absent: it stays as it is. */
  readonly password?: string | null | undefined
}

/** Before such addresses and passwords are written: who gets another one is somebody else, as far as anybody knows. */
export async function endMovedUsers(
  transaction: Pick<Transaction, 'run'>,
  users: readonly AddressedUser[],
  { model, storage }: EndTerms,
): Promise<void> {
  if (users.length === 0) return
  const { user } = model.builtIn
  const table = storage.table(user)
  const column = (attribute: string) => `u.${name(storage.column(user, attribute))}`
  const version = storage.column(user, 'sessionVersion')
  const isOther = `${column('email')} IS DISTINCT FROM n.email OR n.replaced AND ${column('password')} IS DISTINCT FROM n.password`
  await transaction.run({
    name: 'end the sessions of users with new addresses',
    text: `UPDATE ${name(table.name)} AS u SET ${name(version)} = coalesce(u.${name(version)}, 0) + 1, ${codesOf(storage, user)} FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[]) AS n (id, email, password, replaced) WHERE u.${name(table.documentId)} = n.id AND (${isOther})`,
    values: [
      users.map(({ documentId }) => documentId),
      users.map(({ email }) => email),
      users.map(({ password }) => password ?? null),
      users.map(({ password }) => password !== undefined),
    ],
  })
}

const codesOf = (storage: Storage, user: ContentType): string =>
  ['resetPasswordToken', 'confirmationToken']
    .map(code => `${name(storage.column(user, code))} = NULL`)
    .join(', ')
