import { permitModified } from '../../access/restrict/modified-by-middleware.ts'
import type { Transaction } from '../../database/database.ts'
import type { Alongside, Answer, Documents, SavedDocument } from '../../documents/documents.ts'
import { notUnique, toRefusal } from '../../documents/values/value-fault.ts'
import { RequestFault } from '../../faults/fault.ts'
import type { ContentType, Model } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import type { CreateCommand, PermittedCommand, UpdateCommand } from '../../query/command.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import { mailConfirmation } from '../confirm-email.ts'
import type { IdentityOptions } from '../identity.ts'
import { findAccount, findAmbiguous, type GivenIdentifiers } from './accounts.ts'
import { withUsername } from './user-values.ts'

/**
 * Wraps the document service for users. No username is the address of another user. A new password ends the user's sessions (reference/safety.md#s8-sessions-and-resets). A new address invalidates
 * mailed codes, and must be confirmed if the project requires it and the write does not set `confirmed`.
 */
export const userDocuments = (documents: Documents, options: IdentityOptions): Documents => ({
  ...documents,
  create(command, answer, alongside) {
    if (command.type !== options.model.builtIn.user) return documents.create(command, answer, alongside)
    const normal = withNormalisedUsername(command)
    return documents.create(normal, answer, {
      ...alongside,
      async before(transaction) {
        await refuseAmbiguous(normal.values, null, transaction, options)
        await alongside?.before?.(transaction)
      },
    })
  },
  update(command, answer, alongside) {
    if (command.type !== options.model.builtIn.user) return documents.update(command, answer, alongside)
    return updateUser(withNormalisedUsername(command), answer, { documents, identity: options, alongside })
  },
  async delete(command, seen, answer) {
    const text = await documents.delete(command, seen, answer)
    if (command.type === options.model.builtIn.user && command.documentId !== null)
      await forgetCredentials(command.documentId, options)
    return text
  },
})

async function refuseAmbiguous(
  values: GivenIdentifiers,
  documentId: string | null,
  transaction: Transaction,
  options: IdentityOptions,
): Promise<void> {
  const taken = await findAmbiguous(values, documentId, transaction, options)
  const refusal = taken && toRefusal([notUnique([taken], String(values[taken]))])
  if (refusal) throw new RequestFault(refusal)
}

/** Removes API keys and accounts at providers of a user who is gone. They open nothing; their names are personal data. */
async function forgetCredentials(
  documentId: string,
  { database, model, storage }: IdentityOptions,
): Promise<void> {
  const users = storage.table(model.builtIn.user)
  const gone = `document_id = $1::text AND NOT EXISTS (SELECT 1 FROM ${ident(users.name)} u WHERE u.${ident(users.documentId)} = $1::text)`
  await database.run({
    name: 'forget the credentials of a deleted user',
    text: `WITH k AS (DELETE FROM plinth_user_keys WHERE ${gone}) DELETE FROM plinth_identities WHERE ${gone}`,
    values: [documentId],
  })
}

type UserUpdate = PermittedCommand<UpdateCommand>

function withNormalisedUsername<Kind extends CreateCommand | UpdateCommand>(
  command: PermittedCommand<Kind>,
): PermittedCommand<Kind> {
  const values = withUsername(command.values)
  return values === command.values ? command : permitModified({ ...command, values }, command, command)
}

interface UpdateUserOptions {
  readonly documents: Documents
  readonly identity: IdentityOptions
  readonly alongside: Alongside | undefined
}

async function updateUser(
  command: UserUpdate,
  answer: Answer,
  options: UpdateUserOptions,
): Promise<SavedDocument> {
  const { documents, identity, alongside } = options
  const { values, documentId } = command
  const addressOf = async (runner: Pick<Transaction, 'run'>, locked: boolean): Promise<string | null> =>
    (await findAccount(runner, { by: 'documentId', text: documentId ?? '' }, identity, locked))?.email ?? null
  const stored = keepsConfirmed(command, identity) ? await addressOf(identity.database, false) : null
  const isNew = stored !== null && stored !== String(values.email).toLowerCase()
  try {
    const written = await documents.update(isNew ? unconfirmed(command) : command, answer, {
      async before(transaction) {
        await refuseAmbiguous(values, documentId, transaction, identity)
        if (stored !== null && (await addressOf(transaction, true)) !== stored) throw new AddressChanged()
        await alongside?.before?.(transaction)
      },
      async after(transaction, written) {
        await alongside?.after?.(transaction, written)
        if (Object.hasOwn(values, 'password'))
          await endSessions(transaction, { documentId: written }, identity)
        if (Object.hasOwn(values, 'email')) await clearMailedCodes(transaction, written, identity)
      },
    })
    if (isNew) mailConfirmationTo(written, identity)
    return written
  } catch (error) {
    // Each further attempt follows another write of the user's address.
    if (error instanceof AddressChanged) return updateUser(command, answer, options)
    throw error
  }
}

/** The stored address, by which an update decides whether it has to be confirmed, changed before the update locked the user. */
class AddressChanged extends Error {}

/** True if an update sets the address and leaves open whether it is confirmed. */
const keepsConfirmed = ({ values }: UserUpdate, { settings }: IdentityOptions): boolean =>
  settings.register.confirmEmail && typeof values.email === 'string' && values.confirmed === undefined

const unconfirmed = (command: UserUpdate): UserUpdate =>
  permitModified({ ...command, values: { ...command.values, confirmed: false } }, command, command)

function mailConfirmationTo({ documentId }: SavedDocument, options: IdentityOptions): void {
  const key = { by: 'documentId', text: documentId } as const
  options.background.start(async () => {
    const account = await findAccount(options.database, key, options)
    if (account && !account.confirmed && !account.blocked) await mailConfirmation(account, options)
  })
}

interface EndSessionsOptions {
  readonly model: Model
  readonly storage: Storage
}

interface SessionOwner {
  readonly documentId: string
  /** Id of the session that goes on; absent: none. */
  readonly keptSession?: string | undefined
}

/**
 * Ends all sessions of a user but one and invalidates mailed codes, in the transaction that sets a new password. A stolen
 * session could have requested a change of address (reference/safety.md#s8-sessions-and-resets).
 */
export async function endSessions(
  transaction: Pick<Transaction, 'run'>,
  { documentId, keptSession }: SessionOwner,
  { model, storage }: EndSessionsOptions,
): Promise<void> {
  const { user } = model.builtIn
  const table = storage.table(user)
  const version = ident(storage.column(user, 'sessionVersion'))
  const kept = ident(storage.column(user, 'keptSession'))
  const codes = clearCodesSql(storage, user)
  await transaction.run({
    name: 'end the sessions of a user',
    text: `UPDATE ${ident(table.name)} SET ${version} = coalesce(${version}, 0) + 1, ${kept} = $2::text, ${codes} WHERE ${ident(table.documentId)} = $1::text`,
    values: [documentId, keptSession ?? null],
  })
}

/** Invalidates codes mailed to the old address, in the transaction that changes the address. */
async function clearMailedCodes(
  transaction: Pick<Transaction, 'run'>,
  documentId: string,
  { model, storage }: EndSessionsOptions,
): Promise<void> {
  const { user } = model.builtIn
  const table = storage.table(user)
  await transaction.run({
    name: 'forget what was mailed to a user',
    text: `UPDATE ${ident(table.name)} SET ${clearCodesSql(storage, user)} WHERE ${ident(table.documentId)} = $1::text`,
    values: [documentId],
  })
}

interface UserCredentials {
  readonly documentId: string
  readonly email: string
  /** Hash; absent: unchanged. */
  readonly password?: string | null | undefined
}

/** Call before the values are written: a user with a new address or password may be a different person. */
export async function endSessionsOfChangedUsers(
  transaction: Pick<Transaction, 'run'>,
  users: readonly UserCredentials[],
  { model, storage }: EndSessionsOptions,
): Promise<void> {
  if (users.length === 0) return
  const { user } = model.builtIn
  const table = storage.table(user)
  const column = (attribute: string) => `u.${ident(storage.column(user, attribute))}`
  const version = storage.column(user, 'sessionVersion')
  const kept = storage.column(user, 'keptSession')
  const isOther = `${column('email')} IS DISTINCT FROM n.email OR n.replaced AND ${column('password')} IS DISTINCT FROM n.password`
  await transaction.run({
    name: 'end the sessions of users with new addresses',
    text: `UPDATE ${ident(table.name)} AS u SET ${ident(version)} = coalesce(u.${ident(version)}, 0) + 1, ${ident(kept)} = NULL, ${clearCodesSql(storage, user)} FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[]) AS n (id, email, password, replaced) WHERE u.${ident(table.documentId)} = n.id AND (${isOther})`,
    values: [
      users.map(({ documentId }) => documentId),
      users.map(({ email }) => email),
      users.map(({ password }) => password ?? null),
      users.map(({ password }) => password !== undefined),
    ],
  })
}

const clearCodesSql = (storage: Storage, user: ContentType): string =>
  ['resetPasswordToken', 'confirmationToken']
    .map(code => `${ident(storage.column(user, code))} = NULL`)
    .join(', ')
