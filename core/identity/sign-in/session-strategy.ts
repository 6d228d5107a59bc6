import type { Caller } from '../../access/caller.ts'
import type { Access } from '../../access/compile/compile-access.ts'
import type { UserValues } from '../../access/compile/condition.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import type { BodyOrText } from '../../cache/answer-store.ts'
import type { AnswerCache, CacheFindOptions } from '../../cache/open-cache.ts'
import type { VersionPrefetch } from '../../cache/versions.ts'
import type { Database } from '../../database/database.ts'
import { toReading } from '../../documents/read/to-reading.ts'
import { toStatement } from '../../documents/read/to-statement.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import type { Model } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import type { Strategy } from '../identify.ts'
import { userQuery } from '../users/user-values.ts'
import type { Sessions } from './sessions.ts'

export interface SessionStrategyTerms {
  readonly sessions: Sessions
  readonly access: Access
  readonly database: Pick<Database, 'run'>
  readonly model: Model
  readonly storage: Storage
  /** Absent or null: nobody is kept. */
  readonly cache?: AnswerCache | null
  /** Whether who has not confirmed a mail address is let in no further. */
  readonly confirmEmail: boolean
}

/** Callers by the token that signing in gave them. One statement: the user is read, or proved unchanged, at every request. */
export function sessionStrategy(terms: SessionStrategyTerms): Strategy {
  const read = openUserValues(terms)
  return async (credential, ahead) => {
    const session = await terms.sessions.read(credential)
    if (!session) return null
    const user = await read(session.id, ahead)
    if (!user || isBarred(user, terms.confirmEmail))
      return failed(fault('unauthorized', 'Invalid credentials'))
    // A new password has ended it (safety S8).
    if ((user.sessionVersion ?? 0) !== session.version)
      return failed(fault('unauthorized', 'Missing or invalid credentials'))
    return callerOf(user, terms.access)
  }
}

/** Whether a user is let in no further, whatever his token. */
export const isBarred = ({ blocked, confirmed }: UserValues, confirmEmail: boolean): boolean =>
  blocked === true || (confirmEmail && confirmed !== true)

type ValuesTerms = Pick<SessionStrategyTerms, 'access' | 'database' | 'model' | 'storage' | 'cache'>

/** Not on a replica: who is blocked is blocked at once. */
export function openUserValues({ access, database, model, storage, cache }: ValuesTerms) {
  const query = userQuery(model.builtIn.user, access.userPaths)
  const plan = { storage, defaultLocale: model.defaultLocale, shape: 'flat' } as const
  const read = async (id: number): Promise<unknown> => {
    const { rows } = await database.run({ ...toStatement(query(id), plan), name: NAME }, CURRENT)
    return rows[0]?.[0]
  }
  const find = async (
    id: number,
    kept: AnswerCache,
    ahead: VersionPrefetch | undefined,
  ): Promise<unknown> => {
    const reading = toReading(query(id), plan)
    const statement = { ...reading.statement, name: NAME }
    const found = await kept.find({ ...reading, statement }, { ...USER, prefetch: ahead })
    return textOf(found)
  }
  return async (id: number, ahead?: VersionPrefetch): Promise<UserValues | null> => {
    const text = await (cache ? find(id, cache, ahead) : read(id))
    const [user] = JSON.parse(String(text ?? '[]')) as readonly UserValues[]
    return user ?? null
  }
}

const NAME = 'read the user of a session'

/** Who is blocked is blocked at once. */
const CURRENT = { readonly: true, onPrimary: true } as const

const USER: CacheFindOptions = { formatKey: 'user', print: ({ text }) => text, run: CURRENT }

const textOf = (found: BodyOrText | null): string | null =>
  typeof found === 'object' && found !== null ? found.bytes.toString() : found

/** The role of who has none, or whose role is gone. */
const FALLBACK = 'authenticated'

/** Who a user is to requests: by his role. */
export function callerOf(user: UserValues, { roles, publicCaller: nobody }: Access): Result<Caller, Fault> {
  const role = roleOf(user)
  const grants = (role === null ? undefined : roles.get(role)) ?? roles.get(FALLBACK) ?? nobody.grants
  return ok(Object.freeze({ kind: 'user', grants, user }))
}

function roleOf({ role }: UserValues): string | null {
  if (typeof role !== 'object' || role === null || !('type' in role)) return null
  return typeof role.type === 'string' ? role.type : null
}
