import { type Action, subjectOf } from './actions.ts'
import type { Grants } from './caller.ts'
import type { Scope } from './scope.ts'

export interface Opening {
  /** What is opened. Drafts come with a read, publishing with a write, as where a role grants it. */
  readonly scope: Scope
  /** All that anybody may do. */
  readonly everything: Grants
  /** Where the caller's own grants cover it, their conditions and fields stay. */
  readonly keepsOwn: boolean
}

/** Grants that cover one permission more: for routes that decide for themselves whom they let in. */
export function openGrants(grants: Grants, { scope, everything, keepsOwn }: Opening): Grants {
  const opened: ReadonlySet<Action> = new Set([scope.action, ...BROUGHT[kindOf(scope.action)]])
  const isOpen = (subject: string, action: Action) => subject === scope.subject && opened.has(action)
  return Object.freeze<Grants>({
    name: grants.name,
    allows: (subject, action) => isOpen(subject, action) || grants.allows(subject, action),
    view(type, action) {
      if (!isOpen(subjectOf(type), action)) return grants.view(type, action)
      return (keepsOwn ? grants.view(type, action) : null) ?? everything.view(type, action)
    },
    writing(type, action) {
      if (!isOpen(subjectOf(type), action)) return grants.writing(type, action)
      return (keepsOwn ? grants.writing(type, action) : null) ?? everything.writing(type, action)
    },
  })
}

const BROUGHT = { read: ['readDrafts'], write: ['publish', 'createLocalization'], other: [] } as const

function kindOf(action: Action): keyof typeof BROUGHT {
  if (action === 'find' || action === 'findOne') return 'read'
  return action === 'create' || action === 'update' ? 'write' : 'other'
}
