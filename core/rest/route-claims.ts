import { subjectOf } from '../access/actions.ts'
import { didYouMean } from '../base/nearest.ts'
import { framePlace } from '../base/project-frame.ts'
import type { ContentType, Model } from '../model/model.ts'
import { type ExtensionRoute, pathSegments, type RouterMount, routeShape } from '../plugins/route-guard.ts'
import type { Settings } from '../project/settings/settings.ts'

/** A route that the server or an extension has. */
interface Claim {
  readonly source: string
  readonly method: string
  readonly path: string
}

/** A route of the server itself. */
interface GeneratedRoute extends Claim {
  /** Its name in routesConfig: `article.find`. */
  readonly name: string
}

/** A path of the server below the prefix that is no route of REST, such as a GraphQL endpoint. */
export interface ServedPath extends Pick<Claim, 'path' | 'source'> {
  /** Of an extension: the line of a stack that leads to its declaration. */
  readonly declaredAt?: string
}

/** The data of the views of the console (core/console). */
const CONSOLE_VIEWS = ['model', 'permissions', 'explain', 'operations'] as const

/** The paths below the prefix that GraphQL, the metrics and the console have. */
export function servedPaths({
  rest: { prefix },
  graphql,
  server: { metrics },
  console,
}: Settings): readonly ServedPath[] {
  const endpoints = graphql.enabled ? Object.keys(graphql.endpoints) : []
  const paths = [
    ...endpoints.map(path => ({ path, source: 'the GraphQL endpoint' })),
    ...(metrics.enabled && metrics.port === null ? [{ path: metrics.path, source: 'the metrics' }] : []),
    ...(console.enabled === 'never' ? [] : CONSOLE_VIEWS).map(name => ({
      path: `${prefix}/console/${name}`,
      source: 'the console',
    })),
  ]
  // Express and the router of REST compare paths without regard to case.
  const start = `${prefix}/`.toLowerCase()
  return paths
    .filter(({ path }) => path.toLowerCase().startsWith(start))
    .map(({ path, source }) => ({ path: path.slice(prefix.length), source }))
}

/** One message for each extension route that another route has already, or that replaces none. */
export function findRouteConflicts(
  routes: readonly ExtensionRoute[],
  { root, model, served }: ClaimOptions,
): readonly string[] {
  const generated = generatedRoutes(model)
  const taken = new Map<string, ServedPath>()
  return routes.flatMap(route => {
    const key = claimKey(route)
    const hidden = served.find(({ path }) => isSame(route.path, path))
    const other = hidden ?? taken.get(key)
    const fault = conflictOf(route, { root, other, own: generated.get(key), generated })
    if (fault === null) taken.set(key, route)
    return fault === null
      ? []
      : [`${route.source}: the route ${route.method} ${route.path} ${fault}${placeOf(route, root)}`]
  })
}

interface ClaimOptions {
  /** The folder of the project. */
  readonly root: string
  readonly model: Model
  readonly served: readonly ServedPath[]
}

/** ` (at extensions/shop.ts:12)`: where a route or router is declared. */
function placeOf({ declaredAt }: Pick<ExtensionRoute, 'declaredAt'>, root: string): string {
  const place = framePlace(declaredAt, root)
  return place === null ? '' : ` (at ${place})`
}

/** The file and line of an extension's claim; the source of others. */
const claimant = ({ source, declaredAt = '' }: ServedPath, root: string): string =>
  framePlace(declaredAt, root) ?? source

/** True if a request can match both paths. A route answers the other methods of its path, too, with 405. */
const isSame = (one: string, other: string): boolean =>
  pathSegments(one).length === pathSegments(other).length && overlaps(one, other)

/** One message for each mounted router whose paths the server, another router or a route has already. */
export function findMountConflicts(
  mounts: readonly RouterMount[],
  routes: readonly ExtensionRoute[],
  { root, model, served }: ClaimOptions,
): readonly string[] {
  const searches = [...model.contentTypes.values()].some(({ search }) => search !== null)
  const claims: readonly ServedPath[] = [
    ...generatedRoutes(model).values(),
    ...RESERVED,
    ...(searches ? [{ path: '/search', source: 'the server itself' }] : []),
    ...served,
    ...routes,
  ]
  return mounts.flatMap((mount, at) => {
    const other =
      claims.find(({ path }) => overlaps(mount.path, path)) ??
      mounts.slice(0, at).find(({ path }) => overlaps(mount.path, path))
    return other
      ? [
          `${mount.source}: the router at ${mount.path} would hide ${other.path} of ${claimant(other, root)}. Mount it at another path${placeOf(mount, root)}`,
        ]
      : []
  })
}

/** First words of the server's own paths, some of which have no route yet. */
const RESERVED = [
  ...new Set([
    'actions',
    'auth',
    'connect',
    'content-type-builder',
    'i18n',
    'openapi.json',
    'reference',
    'upload',
    'users',
    'users-permissions',
  ]),
].map(word => ({ path: `/${word}`, source: 'the server itself' }))

/** One of the paths begins with the other. */
function overlaps(one: string, other: string): boolean {
  const [a, b] = [routeWords(one), routeWords(other)]
  const words = a.length < b.length ? a : b
  return words.every((_, at) => a[at] === b[at] || a[at] === ':' || b[at] === ':')
}

const routeWords = (path: string): readonly string[] => routeShape(path).split('/')

interface Claims extends Pick<ClaimOptions, 'root'> {
  readonly other: ServedPath | undefined
  readonly own: GeneratedRoute | undefined
  readonly generated: ReadonlyMap<string, GeneratedRoute>
}

function conflictOf(
  { replaces, method, path }: ExtensionRoute,
  { root, other, own, generated }: Claims,
): string | null {
  if (other) return `is there already: ${other.path} of ${claimant(other, root)}`
  if (own && !replaces)
    return `is there already: ${own.path} of ${own.source}. Set replaces: true to take its place, and call next() for what it does`
  if (replaces && !own) {
    const known = [...generated.values()].map(each => `${each.method} ${each.path}`)
    return `replaces no generated route${didYouMean(`${method} ${path}`, known)}`
  }
  return null
}

const claimKey = ({ method, path }: Pick<Claim, 'method' | 'path'>): string => `${method} ${routeShape(path)}`

/** The name in routesConfig of the generated route with this method and path; null: there is none. */
export const generatedRouteName = (route: Pick<Claim, 'method' | 'path'>, model: Model): string | null =>
  generatedRoutes(model).get(claimKey(route))?.name ?? null

function generatedRoutes(model: Model): ReadonlyMap<string, GeneratedRoute> {
  const own = [...model.contentTypes.values()].filter(type => !type.builtIn).flatMap(routesOfType)
  return new Map([...own, ...BUILT_IN.flatMap(builtInRoutes)].map(route => [claimKey(route), route]))
}

function routesOfType(type: ContentType): readonly GeneratedRoute[] {
  const { uid, kind, key, pluralApiId } = type
  const route = (method: string, path: string, action: string) => ({
    source: uid,
    method,
    path,
    name: `${subjectOf(type)}.${action}`,
  })
  if (kind === 'single')
    return [
      route('GET', `/${key}`, 'find'),
      route('PUT', `/${key}`, 'update'),
      route('DELETE', `/${key}`, 'delete'),
    ]
  const one = `/${pluralApiId}/:documentId`
  return [
    route('GET', `/${pluralApiId}`, 'find'),
    route('POST', `/${pluralApiId}`, 'create'),
    route('GET', one, 'findOne'),
    route('PUT', one, 'update'),
    route('DELETE', one, 'delete'),
  ]
}

const builtInRoutes = ([path, methods]: (typeof BUILT_IN)[number]): readonly GeneratedRoute[] =>
  Object.entries(methods).map(([method, name]) => ({ source: 'the server itself', method, path, name }))

/** Paths of the built-in responders, with the route names of their methods. */
const BUILT_IN: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['/auth/local', { POST: 'auth.login' }],
  ['/auth/local/register', { POST: 'auth.register' }],
  ['/auth/change-password', { POST: 'auth.changePassword' }],
  ['/auth/forgot-password', { POST: 'auth.forgotPassword' }],
  ['/auth/reset-password', { POST: 'auth.resetPassword' }],
  ['/auth/send-email-confirmation', { POST: 'auth.sendEmailConfirmation' }],
  ['/auth/email-confirmation', { GET: 'auth.emailConfirmation' }],
  ['/users', { GET: 'users.find', POST: 'users.create' }],
  ['/users/count', { GET: 'users.count' }],
  ['/users/me', { GET: 'users.me' }],
  ['/users/:id', { GET: 'users.findOne', PUT: 'users.update', DELETE: 'users.delete' }],
  ['/users-permissions/roles', { GET: 'role.find' }],
  ['/users-permissions/roles/:id', { GET: 'role.findOne' }],
  ['/users-permissions/permissions', { GET: 'role.find' }],
  ['/i18n/locales', { GET: 'i18n.find' }],
  ['/upload', { POST: 'upload.upload' }],
  ['/upload/files', { GET: 'upload.find' }],
  ['/upload/files/:id', { GET: 'upload.findOne', DELETE: 'upload.delete' }],
]
