import { readOwnWrites } from '../database/statements/session-scope.ts'
import type { ApiTokenDeclaration } from '../project/settings/settings.ts'
import type { Identify } from './identify.ts'

/** Where replicas answer reads: whoever is known and may write does not read from them what is older than what he wrote. */
export const showOwnWrites =
  (identify: Identify, apiTokens: Readonly<Record<string, ApiTokenDeclaration>>): Identify =>
  async authorization => {
    const caller = await identify(authorization)
    if (!caller.ok || caller.value.kind === 'public') return caller
    const { kind, grants } = caller.value
    if (kind === 'user' || apiTokens[grants.name]?.type !== 'read-only') readOwnWrites()
    return caller
  }
