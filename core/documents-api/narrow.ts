import type { Action } from '../access/actions.ts'
import { restrictAmended } from '../access/restrict/modified-by-middleware.ts'
import { permit } from '../access/restrict/permit.ts'
import { restrict } from '../access/restrict/restrict.ts'
import { trusted, trustedCommand } from '../access/trusted.ts'
import { ok } from '../base/result.ts'
import type { Command, PermittedCommand } from '../query/command.ts'
import type { Query, RestrictedQuery } from '../query/query.ts'
import type { Act } from './act.ts'
import { findPassword } from './password-conditions.ts'
import { given, refuse } from './unwrap-result.ts'

/** What of a query is for whoever acts; for the server's own code all but passwords, which it may not ask for either. */
export function see(query: Query, { who, asked }: Act, action?: Action): RestrictedQuery {
  const password = who ? undefined : findPassword(query)
  if (password) throw refuse(`Invalid key ${password.name}: a password is no condition`, password.name)
  if (!who) return trusted(query)
  return given(asked ? restrictAmended(query, who, action) : restrict(query, who, action))
}

/** A command, as far as whoever acts may give it. */
export const allow = <Kind extends Command>(command: Kind, { who }: Act): PermittedCommand<Kind> =>
  given(who ? permit(command, who) : ok(trustedCommand(command)))
