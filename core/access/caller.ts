import type { Attribute, ContentType } from '../model/model.ts'
import type { PermissionOptions } from '../project/settings/settings.ts'
import type { Actor } from '../query/command.ts'
import type { Action, ContentAction } from './actions.ts'
import type { Condition, RoleRules, UserValues } from './compile/condition.ts'

/** The caller of an operation and its permissions. Made by identity/ from a request, or by code that acts for a user. */
export interface Caller {
  /** `public`: no credentials; `token`: an API token; `user`: a signed-in user; `external`: a user of another issuer. */
  readonly kind: 'public' | 'token' | 'user' | 'external'
  readonly grants: Grants
  /** Values of `$user.…` and `$claims.…` in conditions; null without any. An external caller has `$claims` alone. */
  readonly user: UserValues | null
  /** The API key of a user; absent: a session. `isNarrow`: it has a part of the permissions of the role. */
  readonly key?: { readonly id: string; readonly isNarrow: boolean }
  /** Issuer and subject of an external caller. */
  readonly subject?: string
  /** Id of the session of a signed-in user; absent for other callers, and for tokens of earlier versions. */
  readonly sessionId?: string
}

/** The permissions of one role or one token. Anything not granted is denied. */
export interface Grants {
  /** The key of the role or token in project.yaml. */
  readonly name: string
  /** subject: a content-type's key, or `users`, `auth`, `upload`, `i18n`, `role`. */
  allows(subject: string, action: Action): boolean
  /** The read access of an action to a content-type; null: the action is not granted. */
  readAccess(type: ContentType, action: Action): ReadAccess | null
  /** The write access of an action to a content-type; null: the action is not granted. */
  writeAccess(type: ContentType, action: WriteAction): WriteAccess | null
  /** The role's or token's own permissions, without those that a route adds. */
  roleRules(): RoleRules
}

export type WriteAction = Extract<
  ContentAction,
  'create' | 'update' | 'delete' | 'publish' | 'createLocalization'
>

/** The caller's write access to documents of one content-type. */
export interface WriteAccess {
  /** null: every attribute. */
  readonly fields: ReadonlySet<string> | null
  /** The caller may write only documents that meet it; null: all documents. */
  readonly where: Condition | null
  /** Values that the server writes, as declared: `$user.…` is not resolved yet. */
  readonly set: NonNullable<PermissionOptions['set']>
  /** It covers documents that the caller creates, and no stored ones. */
  readonly onlyNew?: true
  /** The route is open for every document, including those that the caller's own permissions hide. */
  readonly opened?: true
}

/** True if a write may contain the attribute. */
export const mayContain = ({ fields }: WriteAccess, name: string): boolean =>
  fields === null || fields.has(name)

/** The caller's read access to documents of one content-type. */
export interface ReadAccess {
  readonly readable: ReadonlySet<Attribute>
  /** The caller may read only documents that meet it; null: all documents. */
  readonly where: Condition | null
  /** null: the caller may not read drafts; otherwise the condition that drafts must meet in addition to `where`. */
  readonly drafts: { readonly where: Condition | null } | null
}

/** The caller as the author of a change event: names only, no credentials. */
export function actorOf({ kind, grants, user }: Caller): Actor {
  const known = typeof user?.id === 'number' && typeof user.documentId === 'string'
  return {
    user: known ? { id: Number(user.id), documentId: String(user.documentId) } : null,
    role: kind === 'token' ? null : grants.name,
    token: kind === 'token' ? grants.name : null,
  }
}
