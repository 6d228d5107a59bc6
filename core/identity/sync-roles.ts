import { failed, ok, type Result } from '../base/result.ts'
import type { Transaction } from '../database/database.ts'
import { transactAgain } from '../database/transact-again.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { RoleDeclaration } from '../project/settings/settings.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import {
  type Declared,
  isMirrored,
  type Mirror,
  type Mirrored,
  type MirrorTerms,
  readMirror,
  removeMirrored,
  writeMirror,
} from './sync-names.ts'

/** A role that the project no longer has, but users do. */
export interface HeldRole {
  readonly role: string
  readonly users: number
}

const mirrorOf = ({ builtIn }: Model): Mirror => ({
  type: builtIn.role,
  key: 'type',
  fields: ['name', 'description'],
})

/**
 * The project's roles as rows that users point at and endpoints list, with stable ids. One statement where nothing
 * changed. Roles that are gone are deleted; where users hold one, nothing is changed and the roles are told.
 */
export async function mirrorRoles(
  roles: Readonly<Record<string, RoleDeclaration>>,
  terms: MirrorTerms,
): Promise<Result<null, HeldRole>> {
  const { database, model, storage } = terms
  const mirror = mirrorOf(model)
  const declared = Object.entries(roles).map(
    ([key, role]): Declared => ({ key, fields: { name: role.name, description: role.description } }),
  )
  if (isMirrored(declared, await readMirror(database, mirror, storage))) return ok(null)
  return transactAgain(database, async transaction => {
    await transaction.lock('plinth roles')
    const rows = await readMirror(transaction, mirror, storage)
    const gone = rows.filter(({ key }) => !declared.some(each => each.key === key))
    const held = await heldRoles(transaction, gone, model, storage)
    if (held.length > 0) return failed(...held)
    await writeMirror(mirror, declared, rows, { ...terms, transaction, schema: database.schema })
    await removeMirrored(transaction, mirror.type, gone, storage)
    return ok(null)
  })
}

async function heldRoles(
  transaction: Transaction,
  gone: readonly Mirrored[],
  { builtIn }: Model,
  storage: Storage,
): Promise<readonly HeldRole[]> {
  if (gone.length === 0) return []
  const link = storage.link(builtIn.user, 'role')
  if (link.kind === 'table') throw new TypeError('a user has one role')
  const [users, roles] = [storage.table(builtIn.user), storage.table(builtIn.role)]
  const { rows } = await transaction.run({
    name: 'count users of roles',
    text: `SELECT r.${name(roles.documentId)}, count(*) FROM ${name(roles.name)} AS r JOIN ${name(users.name)} AS u ON u.${name(link.key)} = r.${name(roles.key)} WHERE r.${name(roles.documentId)} = ANY ($1::text[]) GROUP BY 1`,
    values: [gone.map(({ documentId }) => documentId)],
  })
  return rows.map(([id, users]) => ({
    role: gone.find(({ documentId }) => documentId === id)?.key ?? String(id),
    users: Number(users),
  }))
}
