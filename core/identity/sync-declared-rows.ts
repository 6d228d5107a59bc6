import { failed, ok, type Result } from '../base/result.ts'
import type { Database, Transaction } from '../database/database.ts'
import { retryTransaction } from '../database/retry-transaction.ts'
import type { DesiredDocument, DesiredValue } from '../documents/desired-state.ts'
import { newDocumentId } from '../documents/rows/document-id.ts'
import { writeOptions } from '../documents/rows/write-options.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { RoleDeclaration } from '../project/settings/settings.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'

export interface SyncOptions {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
}

/** A declaration of the project as the row to store: strings by attribute. */
export interface DeclaredRow {
  readonly key: string
  readonly fields: Readonly<Record<string, string>>
}

/** A stored row. Its declaration may have been removed. */
export interface StoredRow {
  readonly key: string
  readonly documentId: string
  readonly fields: Readonly<Record<string, string>>
}

export interface SyncTarget {
  readonly type: ContentType
  /** Attribute that holds the key. */
  readonly key: string
  /** Attributes that are compared. */
  readonly fields: readonly string[]
}

type Runner = Pick<Transaction, 'run'>

/** All stored rows, ordered by id. */
export async function readStoredRows(
  runner: Runner,
  { type, key, fields }: SyncTarget,
  storage: Storage,
): Promise<readonly StoredRow[]> {
  const table = storage.table(type)
  const columns = [table.documentId, ...[key, ...fields].map(field => storage.column(type, field))]
  const { rows } = await runner.run({
    name: `read ${type.pluralApiId}`,
    text: `SELECT ${columns.map(ident).join(', ')} FROM ${ident(table.name)} ORDER BY ${ident(table.id)}`,
    values: [],
  })
  return rows.map(([documentId, found, ...values]) => ({
    documentId: String(documentId),
    key: String(found),
    fields: Object.fromEntries(fields.map((field, index) => [field, String(values[index] ?? '')])),
  }))
}

/** True if declarations and rows match one to one, with equal fields. */
export const isInSync = (declared: readonly DeclaredRow[], rows: readonly StoredRow[]): boolean =>
  declared.length === rows.length &&
  declared.every(({ key, fields }) => {
    const row = rows.find(each => each.key === key)
    return row !== undefined && Object.entries(fields).every(([field, value]) => row.fields[field] === value)
  })

/** Inserts and updates rows of the declarations; rows keep their ids. Rows without a declaration stay. */
export async function writeDeclaredRows(
  target: SyncTarget,
  declared: readonly DeclaredRow[],
  rows: readonly StoredRow[],
  options: SyncOptions & { readonly transaction: Transaction },
): Promise<void> {
  const documents = declared.map(({ key, fields }): DesiredDocument => {
    const documentId = rows.find(row => row.key === key)?.documentId ?? newDocumentId()
    const values = new Map<string, DesiredValue>(
      Object.entries({ ...fields, [target.key]: key }).map(([field, value]) => [
        field,
        { kind: 'scalar', value },
      ]),
    )
    return { type: target.type, documentId, versions: [{ locale: null, statuses: ['published'], values }] }
  })
  await writeDocuments(documents, writeOptions(options.transaction, options, { touch: false }))
}

/** Deletes rows. */
export async function removeRows(
  runner: Runner,
  type: ContentType,
  rows: readonly StoredRow[],
  storage: Storage,
): Promise<void> {
  if (rows.length === 0) return
  const table = storage.table(type)
  await runner.run({
    name: `delete ${type.pluralApiId}`,
    text: `DELETE FROM ${ident(table.name)} WHERE ${ident(table.documentId)} = ANY ($1::text[])`,
    values: [rows.map(({ documentId }) => documentId)],
  })
}

const localeTarget = ({ builtIn }: Model): SyncTarget => ({
  type: builtIn.locale,
  key: 'code',
  fields: ['name'],
})

/** Syncs the locales of the project to rows of plugin::i18n.locale with stable ids. One statement if nothing changed. */
export async function syncLocales(options: SyncOptions): Promise<void> {
  const { database, model, storage } = options
  const target = localeTarget(model)
  const declared = model.locales.map(({ code, name }): DeclaredRow => ({ key: code, fields: { name } }))
  if (isInSync(declared, await readStoredRows(database, target, storage))) return
  await retryTransaction(database, async transaction => {
    await transaction.lock('plinth locales')
    const rows = await readStoredRows(transaction, target, storage)
    await writeDeclaredRows(target, declared, rows, { ...options, transaction })
    const removed = rows.filter(({ key }) => !declared.some(each => each.key === key))
    await removeRows(transaction, target.type, removed, storage)
  })
}

/** A role that was removed from the project, but is still assigned to users. */
export interface AssignedRole {
  readonly role: string
  readonly users: number
}

const roleTarget = ({ builtIn }: Model): SyncTarget => ({
  type: builtIn.role,
  key: 'type',
  fields: ['name', 'description'],
})

/**
 * Syncs the roles of the project to rows with stable ids. One statement if nothing changed. Removed roles are deleted.
 * Fails without any change, listing the roles, if removed roles are still assigned to users.
 */
export async function syncRoles(
  roles: Readonly<Record<string, RoleDeclaration>>,
  options: SyncOptions,
): Promise<Result<null, AssignedRole>> {
  const { database, model, storage } = options
  const target = roleTarget(model)
  const declared = Object.entries(roles).map(
    ([key, role]): DeclaredRow => ({ key, fields: { name: role.name, description: role.description } }),
  )
  if (isInSync(declared, await readStoredRows(database, target, storage))) return ok(null)
  return retryTransaction(database, async transaction => {
    await transaction.lock('plinth roles')
    const rows = await readStoredRows(transaction, target, storage)
    const removed = rows.filter(({ key }) => !declared.some(each => each.key === key))
    const assigned = await assignedRoles(transaction, removed, model, storage)
    if (assigned.length > 0) return failed(...assigned)
    await writeDeclaredRows(target, declared, rows, { ...options, transaction })
    await removeRows(transaction, target.type, removed, storage)
    return ok(null)
  })
}

/** The removed roles that users still have, before a migration: there may be no tables yet. */
export async function findAssignedRoles(
  roles: Readonly<Record<string, RoleDeclaration>>,
  { database, model, storage }: SyncOptions,
): Promise<readonly AssignedRole[]> {
  const tables = [model.builtIn.role, model.builtIn.user].map(type => ident(storage.table(type).name))
  const text = 'SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL'
  const { rows } = await database.run({ text, values: tables })
  if (rows[0]?.[0] !== true) return []
  const stored = await readStoredRows(database, roleTarget(model), storage)
  const removed = stored.filter(({ key }) => !Object.hasOwn(roles, key))
  return assignedRoles(database, removed, model, storage)
}

async function assignedRoles(
  database: Runner,
  removed: readonly StoredRow[],
  { builtIn }: Model,
  storage: Storage,
): Promise<readonly AssignedRole[]> {
  if (removed.length === 0) return []
  const link = storage.link(builtIn.user, 'role')
  if (link.kind === 'table') throw new TypeError('a user has one role')
  const [users, roles] = [storage.table(builtIn.user), storage.table(builtIn.role)]
  const { rows } = await database.run({
    name: 'count users of roles',
    text: `SELECT r.${ident(roles.documentId)}, count(*) FROM ${ident(roles.name)} AS r JOIN ${ident(users.name)} AS u ON u.${ident(link.key)} = r.${ident(roles.key)} WHERE r.${ident(roles.documentId)} = ANY ($1::text[]) GROUP BY 1`,
    values: [removed.map(({ documentId }) => documentId)],
  })
  return rows.map(([id, users]) => ({
    role: removed.find(({ documentId }) => documentId === id)?.key ?? String(id),
    users: Number(users),
  }))
}
