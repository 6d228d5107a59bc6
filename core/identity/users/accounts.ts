import type { Cell, Transaction } from '../../database/database.ts'
import type { Model } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import { quoteIdentifier as name } from '../../sql/identifier.ts'
import { toUsername } from './username.ts'

/** A user as signing in needs to know him: never answered, never logged. */
export interface Account {
  readonly id: number
  readonly documentId: string
  readonly email: string
  /** A bcrypt hash; null where he has none. */
  readonly password: string | null
  readonly confirmed: boolean
  readonly blocked: boolean
  readonly sessionVersion: number
}

/** What an account is found by; codes by their hashes. */
export type AccountKey =
  | { readonly by: 'id'; readonly id: number }
  /** A username in its exact case, as it is stored or in another compatibility form, or a mail address in any case. */
  | { readonly by: 'identifier'; readonly text: string }
  | { readonly by: 'email'; readonly text: string }
  | { readonly by: 'documentId' | 'resetPasswordToken' | 'confirmationToken'; readonly text: string }

export interface AccountTerms {
  readonly model: Model
  readonly storage: Storage
}

const FIELDS = ['email', 'password', 'confirmed', 'blocked', 'sessionVersion'] as const

/** One account, or null. `locked`: nobody else changes it until the transaction ends. */
export async function findAccount(
  runner: Pick<Transaction, 'run'>,
  key: AccountKey,
  terms: AccountTerms,
  locked = false,
): Promise<Account | null> {
  if ('text' in key && key.text.includes('\0')) return null
  const { model, storage } = terms
  const { user } = model.builtIn
  const table = storage.table(user)
  const columns = [table.id, table.documentId, ...FIELDS.map(field => storage.column(user, field))]
  const { where, order, values } = conditionOf(key, terms)
  const { rows } = await runner.run({
    name: `find a user by ${key.by}`,
    text: `SELECT ${columns.map(name).join(', ')} FROM ${name(table.name)} WHERE ${where}${order} LIMIT 1${locked ? ' FOR UPDATE' : ''}`,
    values,
  })
  return rows[0] ? toAccount(rows[0]) : null
}

/**
 * Mail addresses are stored in lower case as JavaScript has it; databases differ. One user's name may be another's
 * address: the address comes first.
 */
function conditionOf(key: AccountKey, { model, storage }: AccountTerms) {
  const column = (field: string) => name(storage.column(model.builtIn.user, field))
  switch (key.by) {
    case 'id':
      return { where: `${name('id')} = $1::integer`, order: '', values: [key.id] }
    case 'identifier': {
      const mail = `${column('email')} = $2::text`
      return {
        where: `${column('username')} = ANY ($1::text[]) OR ${mail}`,
        // Names that were stored before names were normalised are found by their exact form first.
        order: ` ORDER BY (${mail}) DESC, (${column('username')} = $3::text) DESC`,
        values: [[key.text, toUsername(key.text)], key.text.toLowerCase(), key.text],
      }
    }
    case 'email':
      return { where: `${column('email')} = $1::text`, order: '', values: [key.text.toLowerCase()] }
    case 'documentId':
      return {
        where: `${name(storage.table(model.builtIn.user).documentId)} = $1::text`,
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
