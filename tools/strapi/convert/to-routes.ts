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

const ACTIONS = ['find', 'findOne', 'create', 'update', 'delete']

/** The section `routesConfig`: routes that are public or need other permissions. */
export const toRoutes = ({ routers }: StrapiProject, names: Names): DocumentEntry | undefined =>
  section(
    'routesConfig',
    routers.flatMap(router => toRouter(router, names)),
  )

function toRouter({ uid, options }: StrapiRouter, names: Names): readonly DocumentEntry[] {
  const key = names.types.get(uid)?.key
  if (key === undefined) return []
  return ACTIONS.flatMap(action => {
    const declared = mappingAt(options, 'config', action)
    const { auth, notes: unknown } = authOf(declared, names)
    const notes = [...unknown, ...usesOf(declared, 'policies'), ...usesOf(declared, 'middlewares')]
    if (auth === undefined && notes.length === 0) return []
    return [entry(`${key}.${action}`, { kind: 'flow', json: auth === undefined ? {} : { auth } }, notes)]
  })
}

interface RouteAuth {
  readonly auth: Json | undefined
  readonly notes: readonly Note[]
}

function authOf(declared: LiteralMapping, names: Names): RouteAuth {
  if (valueAt(declared, 'auth') === false) return { auth: false, notes: [] }
  const wanted = textsAt(declared, 'auth', 'scope')
  const known = wanted.flatMap(each => scopeOf(each, names) ?? [])
  const unknown = wanted.filter(each => scopeOf(each, names) === undefined).map(each => `\`${each}\``)
  return {
    auth: known.length === 0 ? undefined : { scope: known },
    notes:
      unknown.length === 0
        ? []
        : [
            lost(
              `Strapi also asked for ${unknown.join(', ')} here, which no role can have: a policy in policies/ can ask instead`,
              scriptPlace(declared, 'auth'),
            ),
          ],
  }
}

function scopeOf(permission: string, { types }: Names): string | undefined {
  const [, uid = '', action = ''] = /^(api::[^.]+\.[^.]+)\.([^.]+)$/.exec(permission) ?? []
  const key = types.get(uid)?.key
  return key === undefined ? undefined : `api::${key}.${key}.${action}`
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

/** Routes that a router excludes: in Plinth a route without permissions is closed. */
export function routerNotes({ routers }: StrapiProject, uid: string): readonly string[] {
  return routers
    .filter(router => router.uid === uid)
    .flatMap(({ options }) => [
      ...listed(options, 'only', 'Strapi had these routes alone'),
      ...listed(options, 'except', 'Strapi lacked these routes'),
      ...(options.has('prefix')
        ? [`Strapi had its routes under \`${textAt(options, 'prefix') ?? '…'}\``]
        : []),
    ])
}

function listed(options: StrapiRouter['options'], key: string, words: string): readonly string[] {
  const actions = textsAt(options, key)
  return actions.length === 0 ? [] : [`${words}: ${actions.join(', ')}; permissions decide in Plinth`]
}
