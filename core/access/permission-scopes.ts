import type { ContentType, Model } from '../model/model.ts'
import {
  type Action,
  actionsOf,
  BUILT_IN_ACTIONS,
  isBuiltInSubject,
  isReadAction,
  subjectOf,
} from './actions.ts'
import type { Grants, ReadAccess } from './caller.ts'

export interface GrantOpening {
  /** The permission to add. `create` and `update` also add the actions that they imply. */
  readonly scope: PermissionScope
  /** Grants of every permission. */
  readonly everything: Grants
  /** If the caller's own grants include the permission, their conditions and fields are kept. */
  readonly keepsOwn: boolean
  /** Drafts that the added read returns: those that the caller's own grants allow, or all. */
  readonly drafts: 'own' | 'all'
}

/** Grants with one permission added: for routes that do their own authorization. */
export function openGrants(grants: Grants, { scope, everything, keepsOwn, drafts }: GrantOpening): Grants {
  const opened: ReadonlySet<Action> = new Set([scope.action, ...impliedBy(scope.action)])
  const isOpen = (subject: string, action: Action) => subject === scope.subject && opened.has(action)
  const openView = (type: ContentType, action: Action): ReadAccess | null => {
    const own = grants.readAccess(type, action)
    if (keepsOwn && own) return own
    const view = everything.readAccess(type, action)
    return view && drafts === 'own' && isReadAction(action) ? { ...view, drafts: own?.drafts ?? null } : view
  }
  return Object.freeze<Grants>({
    name: grants.name,
    roleRules: grants.roleRules,
    allows: (subject, action) => isOpen(subject, action) || grants.allows(subject, action),
    readAccess: (type, action) =>
      isOpen(subjectOf(type), action) ? openView(type, action) : grants.readAccess(type, action),
    writeAccess(type, action) {
      if (!isOpen(subjectOf(type), action)) return grants.writeAccess(type, action)
      const kept = keepsOwn ? grants.writeAccess(type, action) : null
      const own = kept?.onlyNew && scope.action !== 'create' ? null : kept
      const all = everything.writeAccess(type, action)
      return own ?? (all && { ...all, opened: true })
    },
  })
}

/** Those of the grants that the scopes name or imply. */
export function narrowGrants(grants: Grants, scopes: readonly PermissionScope[]): Grants {
  const named = new Set(
    scopes.flatMap(({ subject, action }) =>
      [action, ...impliedBy(action), ...(action === 'update' ? ['readDrafts'] : [])].map(
        each => `${subject}.${each}`,
      ),
    ),
  )
  const isNamed = (subject: string, action: string) => named.has(`${subject}.${action}`)
  const changing = new Set(
    scopes.filter(({ action }) => action === 'publish' || action === 'update').map(({ subject }) => subject),
  )
  const isOnlyNew = (subject: string, action: string) => action === 'publish' && !changing.has(subject)
  return Object.freeze<Grants>({
    name: grants.name,
    roleRules() {
      const { rules, model } = grants.roleRules()
      const own = rules.filter(({ subject, action }) => isNamed(String(subject), String(action)))
      const bounded = own.map(rule =>
        isOnlyNew(String(rule.subject), String(rule.action)) ? { ...rule, onlyNew: true as const } : rule,
      )
      return { rules: bounded, model }
    },
    allows: (subject, action) => isNamed(subject, action) && grants.allows(subject, action),
    readAccess(type, action) {
      const subject = subjectOf(type)
      const view = isNamed(subject, action) ? grants.readAccess(type, action) : null
      return view && !isNamed(subject, 'readDrafts') ? { ...view, drafts: null } : view
    },
    writeAccess(type, action) {
      const subject = subjectOf(type)
      const access = isNamed(subject, action) ? grants.writeAccess(type, action) : null
      return access && isOnlyNew(subject, action) ? { ...access, onlyNew: true } : access
    },
  })
}

const impliedBy = (action: Action): readonly Action[] =>
  action === 'create' || action === 'update' ? ['publish', 'createLocalization'] : []

/** One permission: an action of a subject. */
export interface PermissionScope {
  readonly subject: string
  readonly action: Action
}

/** Every permission of a project by its name in `auth.scope`: `api::article.article.find`. */
export function permissionScopes(model: Model): ReadonlyMap<string, PermissionScope> {
  const own = [...model.contentTypes.values()].filter(type => !type.builtIn).flatMap(scopesOfType)
  const builtIn = Object.entries(BUILT_IN_PREFIXES).flatMap(([subject, prefix]) =>
    scopesOfBuiltIn(subject, prefix),
  )
  return new Map([...own, ...builtIn])
}

const scopesOfType = (type: ContentType): readonly (readonly [string, PermissionScope])[] =>
  actionsOf(type).map(action => [`${type.uid}.${action}`, { subject: type.key, action }])

const BUILT_IN_PREFIXES: Readonly<Record<string, string>> = {
  users: 'plugin::users-permissions.user',
  auth: 'plugin::users-permissions.auth',
  role: 'plugin::users-permissions.role',
  upload: 'plugin::upload.content-api',
  i18n: 'plugin::i18n.locales',
}

/** Synonyms that Strapi uses. */
const SYNONYMS: Readonly<Record<string, string>> = {
  'plugin::users-permissions.user.delete': 'plugin::users-permissions.user.destroy',
  'plugin::users-permissions.auth.login': 'plugin::users-permissions.auth.callback',
  'plugin::upload.content-api.delete': 'plugin::upload.content-api.destroy',
  'plugin::i18n.locales.find': 'plugin::i18n.locales.listLocales',
}

function scopesOfBuiltIn(subject: string, prefix: string): readonly (readonly [string, PermissionScope])[] {
  const actions: readonly Action[] = isBuiltInSubject(subject) ? BUILT_IN_ACTIONS[subject] : []
  return actions.flatMap(action => {
    const word = `${prefix}.${action}`
    const scope: PermissionScope = { subject, action }
    const other = SYNONYMS[word]
    return other === undefined ? [[word, scope] as const] : [[word, scope] as const, [other, scope] as const]
  })
}

export const allowsAll = (grants: Grants, scopes: readonly PermissionScope[]): boolean =>
  scopes.every(({ subject, action }) => grants.allows(subject, action))
