import type { Caller } from '../../access/caller.ts'
import type { Access } from '../../access/compile/compile-access.ts'
import type { UserValues } from '../../access/compile/condition.ts'
import type { BodyOrText } from '../../cache/answer-store.ts'
import type { AnswerCache, CacheFindOptions } from '../../cache/open-cache.ts'
import type { VersionPrefetch } from '../../cache/versions.ts'
import type { Database } from '../../database/database.ts'
import { toCacheableRead, toStatement } from '../../documents/read/plan-once.ts'
import { RequestFault, unauthorized } from '../../faults/fault.ts'
import type { Model } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import type { Strategy } from '../identify.ts'
import { userQuery } from '../users/user-values.ts'
import type { SessionClaims, Sessions } from './sessions.ts'

/** What identifying callers by session token needs. */
export interface SessionStrategyOptions {
  readonly sessions: Sessions
  readonly access: Access
  readonly database: Pick<Database, 'run'>
  readonly model: Model
  readonly storage: Storage
  /** Absent or null: users are not cached. */
  readonly cache?: AnswerCache | null
  /** True: users with an unconfirmed address are locked out. */
  readonly confirmEmail: boolean
}

/** Identifies callers by session token. One statement per request reads the user, or checks that the cached user is unchanged. */
export function sessionStrategy(options: SessionStrategyOptions): Strategy {
  const read = openUserReader(options)
  return async (credential, prefetch) => {
    const session = await options.sessions.read(credential)
    if (!session) return null
    const user = await read(session.id, prefetch)
    if (!user || isLockedOut(user, options.confirmEmail))
      throw new RequestFault(unauthorized('Invalid credentials', lockReason(user)))
    if (isEnded(session, user))
      throw new RequestFault(
        unauthorized('Missing or invalid credentials', 'A new password ended the session'),
      )
    return userCaller(user, options.access, session.sessionId)
  }
}

function lockReason(user: UserValues | null): string {
  if (!user) return 'The user of the session was deleted'
  return user.blocked === true ? 'The user is blocked' : 'The mail address of the user is not confirmed'
}

/**
 * True for a session that a new password ended (reference/safety.md#s8-sessions-and-resets). The session that changed the
 * password stays valid with its older tokens, because front-ends written for Strapi do not replace their token.
 */
const isEnded = (
  { version, sessionId }: SessionClaims,
  { sessionVersion, keptSession }: UserValues,
): boolean => (sessionVersion ?? 0) !== version && (sessionId === undefined || keptSession !== sessionId)

/** True for users whose valid tokens are refused. */
export const isLockedOut = ({ blocked, confirmed }: UserValues, confirmEmail: boolean): boolean =>
  blocked === true || (confirmEmail && confirmed !== true)

type UserValuesOptions = Pick<SessionStrategyOptions, 'access' | 'database' | 'model' | 'storage' | 'cache'>

/**
 * Returns a function that reads a user by id, with the values that permissions refer to; null: no such user. `prefetch`: the
 * version check of this request, if it was sent already. Never reads from a replica.
 */
export function openUserReader({ access, database, model, storage, cache }: UserValuesOptions) {
  const query = userQuery(model.builtIn.user, access.userPaths)
  const plan = { storage, defaultLocale: model.defaultLocale, shape: 'flat' } as const
  const readUncached = async (id: number): Promise<unknown> => {
    const { rows } = await database.run({ ...toStatement(query(id), plan), name: STATEMENT_NAME }, ON_PRIMARY)
    return rows[0]?.[0]
  }
  const readCached = async (
    id: number,
    answers: AnswerCache,
    prefetch: VersionPrefetch | undefined,
  ): Promise<unknown> => {
    const cacheable = toCacheableRead(query(id), plan)
    const statement = { ...cacheable.statement, name: STATEMENT_NAME }
    const found = await answers.find({ ...cacheable, statement }, { ...FIND_OPTIONS, prefetch })
    return bodyText(found)
  }
  return async (id: number, prefetch?: VersionPrefetch): Promise<UserValues | null> => {
    const text = await (cache ? readCached(id, cache, prefetch) : readUncached(id))
    const [user] = JSON.parse(String(text ?? '[]')) as readonly UserValues[]
    return user ?? null
  }
}

const STATEMENT_NAME = 'read the user of a session'

/** Blocking a user takes effect immediately. */
const ON_PRIMARY = { readonly: true, onPrimary: true } as const

const FIND_OPTIONS: CacheFindOptions = { formatKey: 'user', print: ({ text }) => text, run: ON_PRIMARY }

const bodyText = (found: BodyOrText | null): string | null =>
  typeof found === 'object' && found !== null ? found.bytes.toString() : found

/** Role of users without a role. */
const FALLBACK_ROLE = 'authenticated'

/**
 * The caller that a user's session token identifies, with the grants of the user's role. A role that only another version of the
 * project has, during a rolling deploy, may be a narrow one: its users may do what everyone may.
 */
export function userCaller(user: UserValues, { roles, publicCaller }: Access, sessionId?: string): Caller {
  const grants = roles.get(roleKey(user) ?? FALLBACK_ROLE) ?? publicCaller.grants
  return Object.freeze({ kind: 'user', grants, user, ...(sessionId !== undefined && { sessionId }) })
}

function roleKey({ role }: UserValues): string | null {
  if (typeof role !== 'object' || role === null || !('type' in role)) return null
  return typeof role.type === 'string' ? role.type : null
}
