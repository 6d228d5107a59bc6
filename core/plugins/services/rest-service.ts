import type { PermissionScope } from '../../access/permission-scopes.ts'
import { didYouMean, hintFor } from '../../base/nearest.ts'
import { declaringFrame } from '../../base/project-frame.ts'
import type { OperationSettings } from '../../project/settings/settings.ts'
import type { RestService, RouteOptions } from '../extension.ts'
import type { ResolverMiddleware } from '../middleware.ts'
import { assertKnownKeys, nameType } from '../plugin-module.ts'
import type { ExtensionRoute, RouteAuth, RouterMount } from '../route-guard.ts'
import type { BoundPolicy, PluginBinder } from '../run-plugins.ts'
import type { ResolverOptions } from './graphql-service.ts'

/** Resolves names of plugins and permissions. */
export interface RouteBinding {
  readonly binder: PluginBinder
  readonly scopes: ReadonlyMap<string, PermissionScope>
}

const PATH = /^(\/(:[A-Za-z_][A-Za-z0-9_]*|[A-Za-z0-9._~-]+))+$/
const MOUNT_PATH = /^(\/[A-Za-z0-9._~-]+)+$/
const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** What extensions have registered. */
export interface RestRegistrations {
  readonly routes: ExtensionRoute[]
  readonly mounts: RouterMount[]
}

interface RestOwner {
  /** The extension, for messages. */
  readonly by: string
  /** `rest.prefix` */
  readonly prefix: string
}

/** The `rest` service of one extension. Arguments are checked, since JavaScript plugins are not type-checked. */
export function restService(
  { by, prefix }: RestOwner,
  { routes, mounts }: RestRegistrations,
  binding: RouteBinding,
): RestService {
  return {
    mount(path, router, options = {}) {
      if (!MOUNT_PATH.test(path)) throw new Error(`\`${path}\` is no path of a router such as /shop`)
      assertWithoutPrefix(path, prefix)
      if (typeof router !== 'function') throw new Error(`the router of ${path} is no Express router`)
      assertOptions(options, `mount('${path}', …)`, ['auth', 'policies'])
      const { auth, policies } = bindOptions(options, binding)
      mounts.push({ source: by, declaredAt: declaringFrame(), path, router, auth, policies })
    },
    route(method, path, handler, options = {}) {
      if (!METHODS.includes(method))
        throw new Error(`no route can have the method ${method}${hintFor(String(method), METHODS)}`)
      if (!PATH.test(path)) throw new Error(`\`${path}\` is no path such as /restaurants/:documentId/menu`)
      assertWithoutPrefix(path, prefix)
      if (typeof handler !== 'function') throw new Error(`${method} ${path} has no handler`)
      assertOptions(options, `${method} ${path}`)
      const { auth, replaces = false } = options
      routes.push({
        source: by,
        declaredAt: declaringFrame(),
        method,
        path,
        handler,
        replaces,
        hasAuth: auth !== undefined,
        ...bindOptions(options, binding),
      })
    },
  }
}

/** A path with the prefix would be served below the prefix twice. */
function assertWithoutPrefix(path: string, prefix: string): void {
  if (!`${path}/`.toLowerCase().startsWith(`${prefix}/`.toLowerCase())) return
  const own = path.slice(prefix.length) || '/…'
  throw new Error(`${path} begins with \`rest.prefix\`, which is added to every path: write ${own}`)
}

const TERMS: readonly string[] = ['auth', 'policies', 'middlewares', 'replaces']

/** Checks the options of a route or resolver: JavaScript plugins may pass anything. */
export function assertOptions(
  options: unknown,
  what: string,
  known = TERMS,
): asserts options is RouteOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new Error(
      `the options of ${what} are an object with ${known.join(', ')}, found ${nameType(options)}`,
    )
  assertKnownKeys(options, known, what)
  const { auth, replaces, ...lists } = options as Readonly<Record<string, unknown>>
  if (replaces !== undefined && replaces !== true) throw new Error(`replaces of ${what} is true, or left out`)
  assertAuth(auth, what)
  for (const [key, list] of Object.entries(lists))
    if (list !== undefined && !Array.isArray(list))
      throw new Error(`${key} of ${what} is a list, found ${nameType(list)}`)
}

function assertAuth(auth: unknown, what: string): void {
  if (auth === undefined || auth === false) return
  if (typeof auth !== 'object' || auth === null || Array.isArray(auth))
    throw new Error(`auth of ${what} is false, or { scope: [...] }, found ${nameType(auth)}`)
  assertKnownKeys(auth, ['scope'], `auth of ${what}`)
  const scope = 'scope' in auth ? auth.scope : undefined
  if (scope === undefined || (Array.isArray(scope) && scope.every(each => typeof each === 'string'))) return
  throw new Error(`scope of ${what} is a list of permissions such as api::article.article.find`)
}

export function bindOptions(
  { auth, policies = [], middlewares = [] }: RouteOptions,
  { binder, scopes }: RouteBinding,
) {
  return {
    auth: toRouteAuth(auth, scopes),
    policies: policies.map(use => binder.policy(use)),
    middlewares: middlewares.map(use => binder.middleware(use)),
  }
}

/** An empty scope means public, as in the reference. */
export function toRouteAuth(auth: OperationSettings['auth'], scopes: RouteBinding['scopes']): RouteAuth {
  if (auth === false) return { kind: 'open' }
  if (auth?.scope === undefined) return { kind: 'own' }
  if (auth.scope.length === 0) return { kind: 'open' }
  return { kind: 'scope', scopes: auth.scope.map(word => scopes.get(word) ?? unknownScope(word, scopes)) }
}

function unknownScope(word: string, scopes: RouteBinding['scopes']): never {
  throw new Error(`unknown permission \`${word}\`${didYouMean(word, scopes.keys())}`)
}

/** Auth, policies and middlewares of one resolver, bound. */
export interface BoundResolver {
  readonly auth: RouteAuth
  readonly policies: readonly BoundPolicy[]
  /** The first middleware is outermost. */
  readonly middlewares: readonly ResolverMiddleware[]
}

const RESOLVER_TERMS = ['auth', 'policies', 'middlewares']

/** Throws an Error for an invalid config of a resolver. */
export function bindResolver(options: ResolverOptions, { binder, scopes }: RouteBinding): BoundResolver {
  assertOptions(options, 'a resolver', RESOLVER_TERMS)
  const { auth, policies = [], middlewares = [] } = options
  return {
    auth: toRouteAuth(auth, scopes),
    policies: policies.map(use => binder.resolverPolicy(use)),
    middlewares: middlewares.map(use => binder.resolverMiddleware(use)),
  }
}
