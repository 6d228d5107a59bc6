import type { PermissionScope } from '../../access/permission-scopes.ts'
import { didYouMean } from '../../base/nearest.ts'
import type { OperationSettings } from '../../project/settings/settings.ts'
import type { RestService, RouteTerms } from '../extension.ts'
import type { ResolverMiddleware } from '../middleware.ts'
import { assertKnownKeys } from '../plugin-module.ts'
import type { ExtensionRoute, RouteAuth, RouterMount } from '../route-guard.ts'
import type { BoundPolicy, PluginBinder } from '../run-plugins.ts'
import type { ResolverTerms } from './graphql-service.ts'

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

/** The `rest` service of one extension. Arguments are checked, since JavaScript plugins are not type-checked. */
export function restService(
  by: string,
  { routes, mounts }: RestRegistrations,
  binding: RouteBinding,
): RestService {
  return {
    mount(path, router, terms = {}) {
      if (!MOUNT_PATH.test(path)) throw new Error(`\`${path}\` is no path of a router such as /shop`)
      if (typeof router !== 'function') throw new Error(`the router of ${path} is no Express router`)
      assertKnownKeys(terms, ['auth', 'policies'], `mount('${path}', …)`)
      assertTerms(terms, path)
      const { auth, policies } = bindTerms(terms, binding)
      mounts.push({ source: by, path, router, auth, policies })
    },
    route(method, path, handler, terms = {}) {
      if (!METHODS.includes(method)) throw new Error(`no route can have the method ${method}`)
      if (!PATH.test(path)) throw new Error(`\`${path}\` is no path such as /restaurants/:documentId/menu`)
      if (typeof handler !== 'function') throw new Error(`${method} ${path} has no handler`)
      assertTerms(terms, `${method} ${path}`)
      const { auth, replaces = false } = terms
      routes.push({
        source: by,
        method,
        path,
        handler,
        replaces,
        hasAuth: auth !== undefined,
        ...bindTerms(terms, binding),
      })
    },
  }
}

/** Checks the keys of options of a route or resolver. */
export function assertTerms({ auth, ...terms }: RouteTerms, what: string): void {
  assertKnownKeys({ auth, ...terms }, ['auth', 'policies', 'middlewares', 'replaces'], what)
  if (terms.replaces !== undefined && terms.replaces !== true)
    throw new Error(`replaces of ${what} is true, or left out`)
  if (auth && typeof auth === 'object') assertKnownKeys(auth, ['scope'], `auth of ${what}`)
}

export function bindTerms(
  { auth, policies = [], middlewares = [] }: RouteTerms,
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

const KEYS: readonly string[] = ['auth', 'policies', 'middlewares']

/** Throws an Error for an invalid config of a resolver. */
export function bindResolver(terms: ResolverTerms, { binder, scopes }: RouteBinding): BoundResolver {
  const unknown = Object.keys(terms).find(key => !KEYS.includes(key))
  if (unknown !== undefined) throw new Error(`unknown key \`${unknown}\`: there are ${KEYS.join(', ')}`)
  const { auth, policies = [], middlewares = [] } = terms
  if (typeof auth === 'boolean' ? auth : auth !== undefined && typeof auth !== 'object')
    throw new Error('auth is false, or { scope: [...] }')
  return {
    auth: toRouteAuth(auth, scopes),
    policies: policies.map(use => binder.resolverPolicy(use)),
    middlewares: middlewares.map(use => binder.resolverMiddleware(use)),
  }
}
