import { memoize } from '../base/memo.ts'
import type { RoleDeclaration, Settings } from '../project/settings/settings.ts'
import type { Caller } from './caller.ts'

/** A view of the console that shows more than the caller's own permissions: `roles.<name>.console`. */
export type ConsoleView = RoleDeclaration['console'][number]

/**
 * The views that a caller may see: those of the role and of the roles that it extends. Only sessions have them: not API tokens,
 * and not API keys, which may be narrower than the role.
 */
export function consoleViewsOf({ kind, key, grants }: Caller, { roles }: Settings): ReadonlySet<ConsoleView> {
  if ((kind !== 'user' && kind !== 'external') || key) return NONE
  return viewsByRole(roles).get(grants.name) ?? NONE
}

const NONE: ReadonlySet<ConsoleView> = new Set()

const viewsByRole = memoize(
  (roles: Settings['roles']) =>
    new Map(Object.keys(roles).map(key => [key, new Set(inheritedViews(key, roles))] as const)),
)

/** The roles extend each other without cycles, and `public` has no views. */
const inheritedViews = (key: string, roles: Settings['roles']): readonly ConsoleView[] => {
  const role = roles[key]
  return role ? [...role.console, ...role.extends.flatMap(parent => inheritedViews(parent, roles))] : []
}
