import { ticked } from '../../../core/base/text.ts'
import type { Json } from '../../../core/project/settings/settings.ts'
import type { Names } from '../names.ts'
import {
  isLiteralList,
  type LiteralMapping,
  type LiteralValue,
  mappingAt,
  scriptPlace,
  textAt,
  textsAt,
  valueAt,
} from '../read/literal-value.ts'
import type { StrapiProject, StrapiRouter } from '../read/strapi-project.ts'
import { type DocumentEntry, entry, lost, type Note, section } from '../yaml-document.ts'
import { servesGraphql } from './to-settings.ts'

/** Actions of Strapi's own controllers of content-types. */
export const CORE_ACTIONS = ['find', 'findOne', 'create', 'update', 'delete']
const SINGLE_ACTIONS = ['find', 'update', 'delete']

/** The section `routesConfig`: routes that are public or need other permissions. */
export function toRoutes({ routers, contentTypes }: StrapiProject, names: Names): DocumentEntry | undefined {
  const singles = new Set(
    contentTypes.flatMap(({ uid, schema }) => (textAt(schema, 'kind') === 'singleType' ? [uid] : [])),
  )
  const actionsOf: ActionsOf = uid => {
    const key = names.types.get(uid)?.key
    return key === undefined ? undefined : { key, actions: singles.has(uid) ? SINGLE_ACTIONS : CORE_ACTIONS }
  }
  return section(
    'routesConfig',
    routers.flatMap(router => toRouter(router, actionsOf)),
  )
}

/** The key and the routes of a content-type. */
type ActionsOf = (uid: string) => { readonly key: string; readonly actions: readonly string[] } | undefined

/** Strapi ignores the configuration of an action that a content-type does not have. */
function toRouter({ uid, options }: StrapiRouter, actionsOf: ActionsOf): readonly DocumentEntry[] {
  const { key, actions = [] } = actionsOf(uid) ?? {}
  return actions.filter(isServed(options)).flatMap(action => {
    const declared = mappingAt(options, 'config', action)
    const { auth, notes: unknown } = authOf(declared, actionsOf)
    const notes = [...unknown, ...usesOf(declared, 'policies'), ...usesOf(declared, 'middlewares')]
    if (auth === undefined && notes.length === 0) return []
    return [entry(`${key}.${action}`, { kind: 'flow', json: auth === undefined ? {} : { auth } }, notes)]
  })
}

interface RouteAuth {
  readonly auth: Json | undefined
  readonly notes: readonly Note[]
}

function authOf(declared: LiteralMapping, actionsOf: ActionsOf): RouteAuth {
  const auth = valueAt(declared, 'auth')
  if (auth === false) return { auth: false, notes: [] }
  const wanted = textsAt(auth, 'scope')
  const known = wanted.flatMap(each => scopeOf(each, actionsOf) ?? [])
  const place = scriptPlace(declared, 'auth')
  const unknown = ticked(wanted.filter(each => scopeOf(each, actionsOf) === undefined))
  const others = ticked([...mappingAt(auth)].map(([key]) => key).filter(key => key !== 'scope'))
  return {
    auth: known.length === 0 ? undefined : { scope: known },
    notes: [
      ...(unknown === ''
        ? []
        : [
            lost(
              `Strapi also asked for ${unknown} here, which no role can have: a policy in policies/ can ask instead`,
              place,
            ),
          ]),
      ...(others === '' ? [] : [lost(`without a counterpart: ${others} of \`auth\``, place)]),
    ],
  }
}

function scopeOf(permission: string, actionsOf: ActionsOf): string | undefined {
  const [, uid = '', action = ''] = /^(api::[^.]+\.[^.]+)\.([^.]+)$/.exec(permission) ?? []
  const { key, actions } = actionsOf(uid) ?? {}
  return key !== undefined && actions?.includes(action) ? `api::${key}.${key}.${action}` : undefined
}

/** Policies and middlewares are code, which has to be rewritten for Plinth. */
function usesOf(declared: LiteralValue, kind: 'policies' | 'middlewares'): readonly Note[] {
  const uses = valueAt(declared, kind)
  if (!isLiteralList(uses) || uses.length === 0) return []
  const named = uses.map(use => (typeof use === 'string' ? use : (textAt(use, 'name') ?? 'a function')))
  const why =
    kind === 'policies'
      ? 'Strapi asked these policies, and Plinth asks nothing'
      : 'Strapi ran these middlewares, and Plinth runs nothing'
  return [
    lost(
      `${why} until they are rewritten in ${kind}/ and named here: ${named.join(', ')}`,
      scriptPlace(declared, kind),
    ),
  ]
}

/** The actions of generated routes that a router serves: `only`, without `except`. */
const isServed = (options: LiteralMapping) => {
  const [only, except] = [textsAt(options, 'only'), textsAt(options, 'except')]
  return (action: string): boolean =>
    (!isLiteralList(valueAt(options, 'only')) || only.includes(action)) && !except.includes(action)
}

/**
 * Uids and actions that no role had in Strapi although their permissions may be set: the routers exclude their routes, and there
 * is no GraphQL, which asks for the same permissions.
 */
export const isUnserved =
  (project: StrapiProject) =>
  (uid: string, action: string): boolean =>
    !servesGraphql(project) &&
    CORE_ACTIONS.includes(action) &&
    project.routers.some(router => router.uid === uid && !isServed(router.options)(action))

/** Routes that a router excludes. */
export function routerNotes(project: StrapiProject, uid: string): readonly Note[] {
  const noted = (served: readonly string[]): Note => {
    const isNone = served.length === 0
    const text = isNone ? 'Strapi had no generated route' : `Strapi had only the routes ${ticked(served)}`
    const others = isNone ? 'its operations' : 'the operations of the others'
    return servesGraphql(project)
      ? lost(`${text}; GraphQL had ${others}: a role with their permissions has both in Plinth`)
      : {
          kind: 'remark',
          text: `${text}: no role has the permission of ${isNone ? 'one' : 'another'} in Plinth`,
        }
  }
  return project.routers
    .filter(router => router.uid === uid)
    .flatMap(({ options }): readonly Note[] => {
      const served = CORE_ACTIONS.filter(isServed(options))
      return [
        ...(served.length === CORE_ACTIONS.length ? [] : [noted(served)]),
        ...(options.has('prefix') && valueAt(options, 'prefix') !== ''
          ? [
              {
                kind: 'remark' as const,
                text: `Strapi had its routes under \`${textAt(options, 'prefix') ?? '…'}\``,
              },
            ]
          : []),
      ]
    })
}
