import type { ContentType, Model } from '../../model/model.ts'
import { type Action, actionsOf, BUILT_IN_ACTIONS, isBuiltInSubject } from '../actions.ts'
import type { Grants } from '../caller.ts'

/** One permission: an action of a subject. */
export interface Scope {
  readonly subject: string
  readonly action: Action
}

/** Every permission of a project by the word that `auth.scope` has for it: `api::article.article.find`. */
export function scopesOf(model: Model): ReadonlyMap<string, Scope> {
  const own = [...model.contentTypes.values()].filter(type => !type.builtIn).flatMap(scopesOfType)
  const builtIn = Object.entries(PLUGINS).flatMap(([subject, prefix]) => scopesOfBuiltIn(subject, prefix))
  return new Map([...own, ...builtIn])
}

const scopesOfType = (type: ContentType): readonly (readonly [string, Scope])[] =>
  actionsOf(type).map(action => [`${type.uid}.${action}`, { subject: type.key, action }])

const PLUGINS: Readonly<Record<string, string>> = {
  users: 'plugin::users-permissions.user',
  auth: 'plugin::users-permissions.auth',
  role: 'plugin::users-permissions.role',
  upload: 'plugin::upload.content-api',
  i18n: 'plugin::i18n.locales',
}

/** The reference's other words. */
const SYNONYMS: Readonly<Record<string, string>> = {
  'plugin::users-permissions.user.delete': 'plugin::users-permissions.user.destroy',
  'plugin::users-permissions.auth.login': 'plugin::users-permissions.auth.callback',
  'plugin::upload.content-api.delete': 'plugin::upload.content-api.destroy',
  'plugin::i18n.locales.find': 'plugin::i18n.locales.listLocales',
}

function scopesOfBuiltIn(subject: string, prefix: string): readonly (readonly [string, Scope])[] {
  const actions: readonly Action[] = isBuiltInSubject(subject) ? BUILT_IN_ACTIONS[subject] : []
  return actions.flatMap(action => {
    const word = `${prefix}.${action}`
    const scope: Scope = { subject, action }
    const other = SYNONYMS[word]
    return other === undefined ? [[word, scope] as const] : [[word, scope] as const, [other, scope] as const]
  })
}

export const allowsAll = (grants: Grants, scopes: readonly Scope[]): boolean =>
  scopes.every(({ subject, action }) => grants.allows(subject, action))
