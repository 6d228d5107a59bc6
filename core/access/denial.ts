import { forbidden, RequestFault, unauthorized } from '../faults/fault.ts'
import type { ContentType } from '../model/model.ts'
import { type Action, subjectOf } from './actions.ts'
import type { Caller } from './caller.ts'

type Denied = Pick<Caller, 'kind' | 'grants'>

/** The refusal (403) of an action that the caller's role or API token does not grant. It names the line to add. */
export const denied = (caller: Denied, subject: string, action: string): RequestFault =>
  new RequestFault(forbidden(reasonForDenial(caller, subject, action)))

export const reasonForDenial = (caller: Denied, subject: string, action: string): string =>
  isOnlyForUsers(subject, action) && caller.kind !== 'user'
    ? onlyForUsers(`${subject}.${action}`)
    : missingPermission(caller, `${subject}.${action}`)

/** The actions on the caller's own user. A caller without a user is refused whatever the project grants. */
export const isOnlyForUsers = (subject: string, action: string): boolean =>
  (subject === 'users' && action === 'me') || (subject === 'auth' && action === 'changePassword')

const onlyForUsers = (permission: string): string =>
  `\`${permission}\` concerns the caller's own user: send the token of a session`

/** The row id of the caller's own user. Throws a refusal (401) for API tokens and the public. `permission`: `users.me` */
export function ownUserId({ user }: Pick<Caller, 'user'>, permission: string): number {
  if (typeof user?.id === 'number') return user.id
  throw new RequestFault(unauthorized('Unauthorized', onlyForUsers(permission)))
}

export const deniedType = (caller: Denied, type: ContentType, action: Action): RequestFault =>
  denied(caller, subjectOf(type), action)

/** `permission`: `article.find` */
export function missingPermission({ kind, grants: { name } }: Denied, permission: string): string {
  const [subject = '', action = ''] = permission.split('.')
  const [holder, section] =
    kind === 'token' ? [`The API token \`${name}\``, 'apiTokens'] : [`The role \`${name}\``, 'roles']
  return `${holder} lacks the permission \`${permission}\`: add \`${action}\` to \`${section}.${name}.permissions.${subject}\` in project.yaml`
}

/** The reason for refusing a document that does not meet the condition of a permission. */
export const unmetCondition = (type: ContentType, when: 'before' | 'after'): string =>
  `${when === 'before' ? 'The document' : 'The result of the write'} does not meet the condition (\`where\`) of the caller's permissions on \`${subjectOf(type)}\`: \`plinth roles explain\` shows it`
