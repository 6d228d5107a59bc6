import type { Actor } from '../query/command.ts'
import type { Caller } from './caller.ts'

/** Who a caller is to those who hear of what he wrote: names, and nothing that lets anybody in. */
export function actorOf({ kind, grants, user }: Caller): Actor {
  const known = typeof user?.id === 'number' && typeof user.documentId === 'string'
  return {
    user: known ? { id: Number(user.id), documentId: String(user.documentId) } : null,
    role: kind === 'token' ? null : grants.name,
    token: kind === 'token' ? grants.name : null,
  }
}
