import { failed, ok, type Result } from '../base/result.ts'
import type { Database, Transaction } from '../database/database.ts'
import { retryTransaction } from '../database/retry-transaction.ts'
import type { DesiredDocument, DesiredValue } from '../documents/desired-state.ts'
import { newDocumentId } from '../documents/rows/document-id.ts'
import { writeOptions } from '../documents/rows/write-options.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import type { RowCheck } from '../migrate/migration-options.ts'
import { refusal } from '../migrate/schema/finding.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { RoleDeclaration } from '../project/settings/settings.ts'
import { qualified } from '../sql/ddl.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'
import type { Statement } from '../sql/statement.ts'

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

/** Waits for writes that link to the rows; those that follow wait for this transaction. */
const lockRows = (runner: Runner, type: ContentType, rows: readonly StoredRow[], storage: Storage) =>
  runOnRows(runner, rows, {
    name: `lock ${type.pluralApiId}`,
    text: `SELECT ${fromRows(type, storage)} FOR UPDATE`,
  })

/** Deletes rows. */
const removeRows = (
  runner: Runner,
  type: ContentType,
  rows: readonly StoredRow[],
  storage: Storage,
): Promise<void> =>
  runOnRows(runner, rows, {
    name: `delete ${type.pluralApiId}`,
    text: `DELETE ${fromRows(type, storage)}`,
  })

function fromRows(type: ContentType, storage: Storage): string {
  const table = storage.table(type)
  return `FROM ${ident(table.name)} WHERE ${ident(table.documentId)} = ANY ($1::text[])`
}

async function runOnRows(
  runner: Runner,
  rows: readonly StoredRow[],
  statement: Pick<Statement, 'name' | 'text'>,
): Promise<void> {
  if (rows.length === 0) return
  await runner.run({ ...statement, values: [rows.map(({ documentId }) => documentId)] })
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
    await lockRows(transaction, target.type, removed, storage)
    const assigned = await findAssignedRoles(transaction, Object.keys(roles), {
      ...options,
      schema: database.schema,
    })
    if (assigned.length > 0) return failed(...assigned)
    await writeDeclaredRows(target, declared, rows, { ...options, transaction })
    await removeRows(transaction, target.type, removed, storage)
    return ok(null)
  })
}

/** Refuses a migration while users have a removed role: its next start would be refused, and the former version outdated. */
export const refuseAssignedRoles =
  (
    roles: Readonly<Record<string, RoleDeclaration>>,
    { model, storage }: Omit<SyncOptions, 'database'>,
  ): RowCheck =>
  async (runner, { schema, owned }) => {
    const tables = [model.builtIn.role, model.builtIn.user].map(type => storage.table(type).name)
    if (!tables.every(table => owned.has(table))) return []
    const assigned = await findAssignedRoles(runner, Object.keys(roles), { schema, model, storage })
    return assigned.map(each => refusal('assigned-role', tables[0] ?? null, describeAssignedRole(each)))
  }

export const describeAssignedRole = ({ role, users }: AssignedRole): string =>
  describeRemovedRole(role, `, but ${users} ${users === 1 ? 'user has' : 'users have'} it`)

export const describeRemovedRole = (role: string, users = ''): string =>
  `role \`${role}\` is no longer in the project${users}: put it back (another \`name\` with the same key renames it), or give them another one first, with the version that has both: \`plinth user list --role ${role}\`, \`plinth user role\``

interface RoleTables extends Omit<SyncOptions, 'database'> {
  readonly schema: string
}

/** The roles that users have, but that are not in the project. The tables are qualified: a migration may have set `search_path`. */
async function findAssignedRoles(
  runner: Runner,
  declared: readonly string[],
  { schema, model: { builtIn }, storage }: RoleTables,
): Promise<readonly AssignedRole[]> {
  const link = storage.link(builtIn.user, 'role')
  if (link.kind === 'table') throw new TypeError('a user has one role')
  const [users, roles] = [storage.table(builtIn.user), storage.table(builtIn.role)]
  const key = `r.${ident(storage.column(builtIn.role, 'type'))}`
  const { rows } = await runner.run({
    name: 'count users of removed roles',
    text: `SELECT ${key}, count(*) FROM ${qualified(schema, roles.name)} AS r JOIN ${qualified(schema, users.name)} AS u ON u.${ident(link.key)} = r.${ident(roles.key)} WHERE ${key} <> ALL ($1::text[]) GROUP BY 1 ORDER BY 1`,
    values: [declared],
  })
  return rows.map(([role, users]) => ({ role: String(role), users: Number(users) }))
}
