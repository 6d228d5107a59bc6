import type { Cell, Transaction } from '../../database/database.ts'
import { type EventAction, type Outbox, openChangeRecorder } from '../../documents/outbox.ts'
import { type TransactOptions, transact } from '../../documents/transact.ts'
import type { Model } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import { toUsername } from './user-values.ts'

/** The fields of a user that sign-in needs. Never returned to clients, never logged. */
export interface Account {
  readonly id: number
  readonly documentId: string
  readonly email: string
  /** bcrypt hash; null: none. */
  readonly password: string | null
  readonly confirmed: boolean
  readonly blocked: boolean
  readonly sessionVersion: number
}

/** Search key of an account. Codes are searched by their hashes. */
export type AccountKey =
  | { readonly by: 'id'; readonly id: number }
  /** A username (case-sensitive, in any Unicode compatibility form) or an address (case-insensitive). */
  | { readonly by: 'identifier'; readonly text: string }
  | { readonly by: 'email'; readonly text: string }
  | { readonly by: 'documentId' | 'resetPasswordToken' | 'confirmationToken'; readonly text: string }

export interface AccountOptions {
  readonly model: Model
  readonly storage: Storage
}

const FIELDS = ['email', 'password', 'confirmed', 'blocked', 'sessionVersion'] as const

/** Finds one account, or null. `locked`: locks the row until the transaction ends. */
export async function findAccount(
  runner: Pick<Transaction, 'run'>,
  key: AccountKey,
  options: AccountOptions,
  locked = false,
): Promise<Account | null> {
  if ('text' in key && key.text.includes('\0')) return null
  const { model, storage } = options
  const { user } = model.builtIn
  const table = storage.table(user)
  const columns = [table.id, table.documentId, ...FIELDS.map(field => storage.column(user, field))]
  const { where, order, values } = accountCondition(key, options)
  const { rows } = await runner.run({
    name: `find a user by ${key.by}`,
    text: `SELECT ${columns.map(ident).join(', ')} FROM ${ident(table.name)} WHERE ${where}${order} LIMIT 1${locked ? ' FOR NO KEY UPDATE' : ''}`,
    values,
  })
  return rows[0] ? toAccount(rows[0]) : null
}

/**
 * Waits until no other transaction creates a user with one of these names or addresses. Call before looking for users who have
 * them: no constraint compares the name of one user with the address of another.
 */
export async function lockIdentifiers(
  transaction: Pick<Transaction, 'lock'>,
  identifiers: readonly string[],
): Promise<void> {
  const keys = new Set(identifiers.map(text => toUsername(text).toLowerCase()))
  // In one order, which prevents deadlocks.
  for (const key of [...keys].toSorted()) await transaction.lock(`identifier ${key}`)
}

/** What a write gives a user to sign in with; absent: not changed. Other types than strings are refused when they are parsed. */
export interface GivenIdentifiers {
  readonly username?: unknown
  readonly email?: unknown
}

/**
 * Finds what another user signs in with, too: a username that is an address, or an address that is a username. Sign-in would find
 * one of the users only. The save itself compares names with names and addresses with addresses. `documentId`: of the user; null: a
 * new one. Locks the identifiers until the transaction ends.
 */
export async function findAmbiguous(
  { username, email }: GivenIdentifiers,
  documentId: string | null,
  transaction: Pick<Transaction, 'run' | 'lock'>,
  { model, storage }: AccountOptions,
): Promise<'username' | 'email' | null> {
  const name = identifierText(username)
  const address = identifierText(email)?.toLowerCase() ?? null
  const identifiers = [name, address].filter(text => text !== null)
  if (identifiers.length === 0) return null
  await lockIdentifiers(transaction, identifiers)
  const { user } = model.builtIn
  const table = storage.table(user)
  const column = (field: string) => ident(storage.column(user, field))
  const { rows } = await transaction.run({
    name: 'find a user with the same identifier',
    text: `SELECT ${column('username')} = $3::text FROM ${ident(table.name)} WHERE ${ident(table.documentId)} IS DISTINCT FROM $1::text AND (${column('email')} = $2::text OR ${column('username')} = $3::text) LIMIT 1`,
    values: [documentId, name?.toLowerCase() ?? null, address],
  })
  const [row] = rows
  if (!row) return null
  return row[0] === true ? 'email' : 'username'
}

/** No stored text contains the character NUL. */
const identifierText = (value: unknown): string | null =>
  typeof value === 'string' && !value.includes('\0') ? value : null

/**
 * Addresses are lower-cased in JavaScript, since databases differ. One user's name may equal another's address: the
 * address takes precedence.
 */
function accountCondition(key: AccountKey, { model, storage }: AccountOptions) {
  const column = (field: string) => ident(storage.column(model.builtIn.user, field))
  switch (key.by) {
    case 'id':
      return { where: `${ident('id')} = $1::integer`, order: '', values: [key.id] }
    case 'identifier': {
      const mail = `${column('email')} = $2::text`
      return {
        where: `${column('username')} = ANY ($1::text[]) OR ${mail}`,
        // Prefers the exact form, for usernames stored before normalisation was introduced.
        order: ` ORDER BY (${mail}) DESC, (${column('username')} = $3::text) DESC`,
        values: [[key.text, toUsername(key.text)], key.text.toLowerCase(), key.text],
      }
    }
    case 'email':
      return { where: `${column('email')} = $1::text`, order: '', values: [key.text.toLowerCase()] }
    case 'documentId':
      return {
        where: `${ident(storage.table(model.builtIn.user).documentId)} = $1::text`,
        order: '',
        values: [key.text],
      }
    default:
      return { where: `${column(key.by)} = $1::text`, order: '', values: [key.text] }
  }
}

function toAccount([id, documentId, email, password, confirmed, blocked, version]: readonly Cell[]): Account {
  return {
    id: Number(id),
    documentId: String(documentId),
    email: String(email),
    password: typeof password === 'string' ? password : null,
    confirmed: confirmed === true,
    blocked: blocked === true,
    sessionVersion: Number(version ?? 0),
  }
}

interface WriteAccountOptions extends TransactOptions {
  readonly model: Model
  readonly outbox: Outbox
}

/** Records an event of a user who changed their own account. */
type RecordAccountEvent = (
  account: Pick<Account, 'id' | 'documentId'>,
  action: EventAction,
  attributes: Iterable<string>,
) => void

/**
 * Runs one transaction on an account on behalf of its owner, and emits the recorded events after the commit. Rejects with
 * a RequestFault for a refused value.
 */
export async function writeAccount<Value>(
  work: (transaction: Transaction, recordEvent: RecordAccountEvent) => Promise<Value>,
  options: WriteAccountOptions,
): Promise<Value> {
  const { user: type } = options.model.builtIn
  const recorder = openChangeRecorder(options.outbox)
  const written = await transact(
    type,
    transaction => {
      const record = recorder.within(transaction, new Date().toISOString())
      return work(transaction, ({ id, documentId }, action, attributes) => {
        const by = { user: { id, documentId }, role: null, token: null }
        const changes = [{ locale: null, action }]
        record({ type, documentId, changes, origin: { by, attributes: [...attributes] } })
      })
    },
    options,
  )
  recorder.done()
  return written
}
