import type { PermissionScope } from '../../access/permission-scopes.ts'
import { didYouMean } from '../../base/nearest.ts'
import type { OperationSettings } from '../../project/settings/settings.ts'
import type { Binder } from '../bind.ts'
import type { RestService, RouteTerms } from '../extension.ts'
import type { ExtensionRoute } from '../extension-route.ts'
import { assertKeys } from '../known-keys.ts'
import type { Door } from '../route-auth.ts'

/** What uses of plugins and permissions are looked up in. */
export interface RouteBinding {
  readonly binder: Binder
  readonly scopes: ReadonlyMap<string, PermissionScope>
}

const PATH = /^(\/(:[A-Za-z_][A-Za-z0-9_]*|[A-Za-z0-9._~-]+))+$/
const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** `rest` of one extension. What it is given is checked: plugins in JavaScript are held to the same. */
export function restService(
  by: string,
  add: (route: ExtensionRoute) => void,
  binding: RouteBinding,
): RestService {
  return {
    route(method, path, handler, terms = {}) {
      if (!METHODS.includes(method)) throw new Error(`no route can have the method ${method}`)
      if (!PATH.test(path)) throw new Error(`\`${path}\` is no path such as /restaurants/:documentId/menu`)
      if (typeof handler !== 'function') throw new Error(`${method} ${path} has no handler`)
      assertTerms(terms, `${method} ${path}`)
      add({ by, method, path, handler, ...bindTerms(terms, binding) })
    },
  }
}

/** What a route or a resolver of code may say. */
export function assertTerms({ auth, ...terms }: RouteTerms, what: string): void {
  assertKeys({ auth, ...terms }, ['auth', 'policies', 'middlewares'], what)
  if (auth && typeof auth === 'object') assertKeys(auth, ['scope'], `auth of ${what}`)
}

export function bindTerms(
  { auth, policies = [], middlewares = [] }: RouteTerms,
  { binder, scopes }: RouteBinding,
) {
  return {
    door: doorOf(auth, scopes),
    policies: policies.map(use => binder.policy(use)),
    middlewares: middlewares.map(use => binder.middleware(use)),
  }
}

/** A scope without permissions lets everybody in, as the reference has it. */
export function doorOf(auth: OperationSettings['auth'], scopes: RouteBinding['scopes']): Door {
  if (auth === false) return { kind: 'open' }
  if (auth?.scope === undefined) return { kind: 'own' }
  if (auth.scope.length === 0) return { kind: 'open' }
  return { kind: 'scope', scopes: auth.scope.map(word => scopes.get(word) ?? unknownScope(word, scopes)) }
}

function unknownScope(word: string, scopes: RouteBinding['scopes']): never {
  throw new Error(`unknown permission \`${word}\`${didYouMean(word, scopes.keys())}`)
}
