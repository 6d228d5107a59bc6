import type { Attribute, ContentType } from '../model/model.ts'
import type { PermissionTerms } from '../project/settings/settings.ts'
import type { Actor } from '../query/command.ts'
import type { Action, ContentAction } from './actions.ts'
import type { Condition, UserValues } from './compile/condition.ts'

/** Who asks, and what he may do. Made by identity/ from a request, or by whoever acts on somebody's behalf. */
export interface Caller {
  /** Nobody known, a program with an API token, or somebody signed in. */
  readonly kind: 'public' | 'token' | 'user'
  readonly grants: Grants
  /** What `$user.…` stands for in conditions; null without a user. */
  readonly user: UserValues | null
}

/** All that one role or one token may do. Nothing that is not granted is allowed. */
export interface Grants {
  /** The key of the role or token in project.yaml. */
  readonly name: string
  /** subject: a content-type's key, or `users`, `auth`, `upload`, `i18n`, `role`. */
  allows(subject: string, action: Action): boolean
  /** What may be seen of a content-type by an action; null where the action is not granted. */
  readAccess(type: ContentType, action: Action): ReadAccess | null
  /** What may be written to a content-type by an action; null where the action is not granted. */
  writeAccess(type: ContentType, action: WriteAction): WriteAccess | null
}

export type WriteAction = Extract<
  ContentAction,
  'create' | 'update' | 'delete' | 'publish' | 'createLocalization'
>

/** What a caller may write to the documents of one content-type. */
export interface WriteAccess {
  /** null: every attribute. */
  readonly fields: ReadonlySet<string> | null
  /** Documents that do not meet it are not his to write; null: all are. */
  readonly where: Condition | null
  /** What the server writes, as it was declared: `$user.…` stands in it. */
  readonly set: NonNullable<PermissionTerms['set']>
  /** The route was opened for every document, also those that the caller's own permissions hide. */
  readonly opened?: true
}

/** What a caller sees of the documents of one content-type. */
export interface ReadAccess {
  readonly readable: ReadonlySet<Attribute>
  /** Documents that do not meet it are out of sight; null: none are. */
  readonly where: Condition | null
  /** null: drafts are not for him; else the condition that they meet beside `where`. */
  readonly drafts: { readonly where: Condition | null } | null
}

/** Who a caller is to those who hear of what he wrote: names, and nothing that lets anybody in. */
export function actorOf({ kind, grants, user }: Caller): Actor {
  const known = typeof user?.id === 'number' && typeof user.documentId === 'string'
  return {
    user: known ? { id: Number(user.id), documentId: String(user.documentId) } : null,
    role: kind === 'token' ? null : grants.name,
    token: kind === 'token' ? grants.name : null,
  }
}
