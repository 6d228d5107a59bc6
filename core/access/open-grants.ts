import type { ContentType } from '../model/model.ts'
import { type Action, isRead, subjectOf } from './actions.ts'
import type { Grants, View } from './caller.ts'
import type { Scope } from './restrict/scope.ts'

export interface Opening {
  /** The permission that is opened. Opening `create` or `update` opens what they imply, too. */
  readonly scope: Scope
  /** All that anybody may do. */
  readonly everything: Grants
  /** Where the caller's own grants cover it, their conditions and fields stay. */
  readonly keepsOwn: boolean
  /** The drafts that an opened read shows: none that the caller's own grants hide, or all of them. */
  readonly drafts: 'own' | 'all'
}

/** Grants that cover one permission more: for routes that decide for themselves whom they let in. */
export function openGrants(grants: Grants, { scope, everything, keepsOwn, drafts }: Opening): Grants {
  const opened: ReadonlySet<Action> = new Set([scope.action, ...impliedBy(scope.action)])
  const isOpen = (subject: string, action: Action) => subject === scope.subject && opened.has(action)
  const openView = (type: ContentType, action: Action): View | null => {
    const own = grants.view(type, action)
    if (keepsOwn && own) return own
    const view = everything.view(type, action)
    return view && drafts === 'own' && isRead(action) ? { ...view, drafts: own?.drafts ?? null } : view
  }
  return Object.freeze<Grants>({
    name: grants.name,
    allows: (subject, action) => isOpen(subject, action) || grants.allows(subject, action),
    view: (type, action) =>
      isOpen(subjectOf(type), action) ? openView(type, action) : grants.view(type, action),
    writing(type, action) {
      if (!isOpen(subjectOf(type), action)) return grants.writing(type, action)
      const own = keepsOwn ? grants.writing(type, action) : null
      const all = everything.writing(type, action)
      return own ?? (all && { ...all, opened: true })
    },
  })
}

const impliedBy = (action: Action): readonly Action[] =>
  action === 'create' || action === 'update' ? ['publish', 'createLocalization'] : []
