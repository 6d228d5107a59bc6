import { randomBytes } from 'node:crypto'
import type { Caller } from '../access/caller.ts'
import { narrowGrants, type PermissionScope, permissionScopes } from '../access/permission-scopes.ts'
import { hintFor } from '../base/nearest.ts'
import { isMoment } from '../base/text.ts'
import { hashToken, printTokenHash } from '../base/tokens.ts'
import type { Cell, Database } from '../database/database.ts'
import { fault, forbidden, notFound, RequestFault, unauthorized } from '../faults/fault.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { AuthSettings } from '../project/settings/settings.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'
import type { Strategy } from './identify.ts'
import {
  isLockedOut,
  openUserReader,
  type SessionStrategyOptions,
  userCaller,
} from './sign-in/session-strategy.ts'

/** A key as its owner sees it. */
export interface UserKey {
  readonly id: string
  readonly name: string
  /** Permissions that the key has of those of the role; null: all. */
  readonly permissions: readonly string[] | null
  /** ISO 8601. */
  readonly createdAt: string
  readonly expiresAt: string
}

export interface UserKeys {
  /** Creates a key of the caller. `key` is answered this once: only its hash is stored. */
  create(body: Readonly<Record<string, unknown>>, caller: Caller): Promise<UserKey & { readonly key: string }>
  findMany(caller: Caller): Promise<readonly UserKey[]>
  /** Rejects with 404 for keys of other users. */
  delete(id: string, caller: Caller): Promise<void>
}

interface UserKeysOptions {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
  readonly settings: AuthSettings['keys']
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

const TABLE = 'plinth_user_keys'
const PREFIX = 'plinth_key_'

/** API keys of users (docs/identity.md). They end with their expiry, a new password, and a blocked or deleted user. */
export function openUserKeys({
  database,
  model,
  storage,
  settings,
  now = Date.now,
}: UserKeysOptions): UserKeys {
  const scopes = permissionScopes(model)
  const { most, lifetime } = settings
  const users = storage.table(model.builtIn.user)
  // Until the key is stored, the user cannot be deleted, which would leave the key behind.
  const hold = `SELECT 1 FROM ${ident(users.name)} WHERE ${ident(users.documentId)} = $1::text FOR KEY SHARE`
  return {
    async create(body, caller) {
      const owner = ownerOf(caller)
      const input = parseKey(body, { caller, scopes, lifetime, now: now() })
      const id = randomBytes(12).toString('base64url')
      const key = `${PREFIX}${randomBytes(32).toString('base64url')}`
      const { rows } = await database.transaction(async transaction => {
        await transaction.lock(`keys of ${owner.documentId}`)
        const held = await transaction.run({ name: 'hold a user', text: hold, values: [owner.documentId] })
        if (!held.rows[0])
          throw new RequestFault(unauthorized('Invalid credentials', 'The user of the session was deleted'))
        const values = [owner.documentId, owner.version]
        await transaction.run({ name: 'forget ended keys', text: FORGET, values })
        return transaction.run({
          name: 'create a key',
          text: CREATE,
          values: [
            ...[printTokenHash(hashToken(key)), id, owner.documentId, owner.version, input.name],
            ...[input.permissions && JSON.stringify(input.permissions), input.expiresAt, most],
          ],
        })
      })
      if (!rows[0]) throw refused(`A user has at most ${most} keys: delete one`, 'name')
      return { ...toKey(rows[0]), key }
    },
    async findMany(caller) {
      const { documentId, version } = ownerOf(caller)
      const { rows } = await database.run({ name: 'list keys', text: LIST, values: [documentId, version] })
      return rows.map(toKey)
    },
    async delete(id, caller) {
      const { documentId } = ownerOf(caller)
      const values = [documentId, id.replaceAll('\0', '')]
      const { rows } = await database.run({ name: 'delete a key', text: DELETE, values })
      if (!rows[0]) throw new RequestFault(notFound())
    },
  }
}

/** A key must not create or list keys: a stolen one would outlive its revocation. */
function ownerOf({ kind, user, key }: Caller): { readonly documentId: string; readonly version: number } {
  if (kind !== 'user' || key || typeof user?.documentId !== 'string')
    throw new RequestFault(forbidden('Only the session of a user may manage keys'))
  return { documentId: user.documentId, version: Number(user.sessionVersion ?? 0) }
}

const COLUMNS = 'id, name, permissions, created_at, expires_at'
const LIST = `SELECT ${COLUMNS} FROM ${TABLE} WHERE document_id = $1::text AND session_version = $2::integer AND expires_at > now() ORDER BY created_at, id`
const DELETE = `DELETE FROM ${TABLE} WHERE document_id = $1::text AND id = $2::text RETURNING id`
const FORGET = `DELETE FROM ${TABLE} WHERE document_id = $1::text AND (session_version < $2::integer OR expires_at <= now())`
const CREATE = `INSERT INTO ${TABLE} (hash, id, document_id, session_version, name, permissions, created_at, expires_at)
SELECT $1::text, $2::text, $3::text, $4::integer, $5::text, $6::text::jsonb, now(), $7::timestamptz
WHERE (SELECT count(*) FROM ${TABLE} WHERE document_id = $3::text) < $8::integer RETURNING ${COLUMNS}`

const toKey = ([id, keyName, permissions, createdAt, expiresAt]: readonly Cell[]): UserKey => ({
  id: String(id),
  name: String(keyName),
  permissions: permissions === null ? null : JSON.parse(String(permissions)),
  createdAt: toIso(createdAt),
  expiresAt: toIso(expiresAt),
})

const toIso = (value: Cell | undefined): string => new Date(String(value)).toISOString()

interface ParseOptions {
  readonly caller: Caller
  readonly scopes: ReadonlyMap<string, PermissionScope>
  /** Milliseconds. */
  readonly lifetime: number
  readonly now: number
}

/** Characters. */
const LONGEST_NAME = 100
const KEYS = ['name', 'permissions', 'expiresAt']

function parseKey(body: Readonly<Record<string, unknown>>, options: ParseOptions) {
  const unknown = Object.keys(body).find(key => !KEYS.includes(key))
  if (unknown !== undefined) throw refused(`Invalid key ${unknown}${hintFor(unknown, KEYS)}`, unknown)
  const { name: input } = body
  if (typeof input !== 'string' || input.trim() === '' || input.length > LONGEST_NAME || input.includes('\0'))
    throw refused(`name must be a text of 1 to ${LONGEST_NAME} characters`, 'name')
  return {
    name: input.trim(),
    permissions: parsePermissions(body.permissions, options),
    expiresAt: parseExpiry(body.expiresAt, options),
  }
}

function parsePermissions(input: unknown, { caller, scopes }: ParseOptions): readonly string[] | null {
  if (input === undefined || input === null) return null
  if (!Array.isArray(input) || input.length > scopes.size)
    throw refused('permissions must be a list such as ["api::article.article.find"]', 'permissions')
  for (const word of input) {
    const scope = typeof word === 'string' ? scopes.get(word) : undefined
    if (!scope) {
      // Not String(…), which runs what the client calls toString.
      const text = typeof word === 'string' ? word : JSON.stringify(word)
      const own = [...scopes].flatMap(([name, { subject, action }]) =>
        caller.grants.allows(subject, action) ? [name] : [],
      )
      throw refused(`unknown permission ${text.slice(0, 100)}${hintFor(text, own)}`, 'permissions')
    }
    if (!caller.grants.allows(scope.subject, scope.action))
      throw refused(`you do not have the permission ${word}`, 'permissions')
  }
  return [...new Set(input.map(String))]
}

function parseExpiry(input: unknown, { lifetime, now }: ParseOptions): string {
  const last = now + lifetime
  if (input === undefined || input === null) return new Date(last).toISOString()
  const time = typeof input === 'string' && isMoment(input) ? Date.parse(input) : Number.NaN
  if (!(time > now && time <= last))
    throw refused(
      `expiresAt must be a time in the future, until ${new Date(last).toISOString()}`,
      'expiresAt',
    )
  return new Date(time).toISOString()
}

const refused = (message: string, key: string): RequestFault =>
  new RequestFault(fault('validation', message, { key }))

/** Identifies callers by their own keys: a caller has the permissions of the user's role that the key names. */
export function userKeyStrategy(options: SessionStrategyOptions): Strategy {
  const { database, model, storage, access, confirmEmail } = options
  const read = openUserReader(options)
  const scopes = permissionScopes(model)
  const users = storage.table(model.builtIn.user)
  const text = `SELECT u.${ident(users.id)}, k.id, k.permissions, k.session_version, k.expires_at > now() FROM ${TABLE} k JOIN ${ident(users.name)} u ON u.${ident(users.documentId)} = k.document_id WHERE k.hash = $1::text`
  return async (credential, prefetch) => {
    if (!credential.startsWith(PREFIX)) return null
    const values = [printTokenHash(hashToken(credential))]
    const { rows } = await database.run({ name: 'find a key', text, values }, ON_PRIMARY)
    const [userId, id, permissions, version, isValid] = rows[0] ?? []
    if (id === undefined) throw refusedKey('The key is unknown, or was deleted')
    if (isValid !== true) throw refusedKey('The key has expired')
    const user = await read(Number(userId), prefetch)
    if (!user || isLockedOut(user, confirmEmail))
      throw refusedKey('The user of the key is blocked or deleted')
    if (Number(user.sessionVersion ?? 0) !== Number(version)) throw refusedKey('A new password ended the key')
    const caller = userCaller(user, access)
    const named: unknown = permissions === null ? null : JSON.parse(String(permissions))
    // A record that was changed by hand must not grant more than it did.
    if (named !== null && !Array.isArray(named))
      throw refusedKey('The record of the key is damaged: delete the key')
    // A permission that the project does not have any more grants nothing.
    const granted = named?.flatMap((word: unknown) => scopes.get(String(word)) ?? [])
    const grants = granted ? narrowGrants(caller.grants, granted) : caller.grants
    return Object.freeze({ ...caller, grants, key: { id: String(id), isNarrow: named !== null } })
  }
}

const ON_PRIMARY = { readonly: true, onPrimary: true } as const

const refusedKey = (reason: string): RequestFault =>
  new RequestFault(unauthorized('Missing or invalid credentials', reason))
