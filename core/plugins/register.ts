import { type Scope, scopesOf } from '../access/scope.ts'
import { didYouMean } from '../base/nearest.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Model } from '../model/model.ts'
import type { Observer } from '../observe/observation.ts'
import type { OperationSettings, Settings } from '../project/settings.ts'
import type { Door } from './admit.ts'
import { type Binder, openBinder } from './bind.ts'
import { bounded } from './bounded.ts'
import type { RestService, RouteTerms } from './extension.ts'
import type { ExtensionRoute } from './extension-route.ts'
import type { ExpressMiddleware } from './middleware.ts'
import type { PluginApp } from './plugin-app.ts'
import type { Plugins } from './plugins.ts'
import type { GuardedRoute } from './route-guard.ts'

/** Everything that plugins want to take part in, before the database is opened. */
export interface Registered {
  readonly app: PluginApp
  /** By `<subject>.<action>`. */
  readonly routesConfig: ReadonlyMap<string, GuardedRoute>
  readonly routes: readonly ExtensionRoute[]
  /** Round every request, in order. */
  readonly express: readonly ExpressMiddleware[]
}

export interface RegisterTerms {
  readonly settings: Settings
  readonly model: Model
  readonly observer: Observer
}

/** Milliseconds that an extension may take to register, to start, to end. */
export const PATIENCE = { register: 60_000, bootstrap: 60_000, destroy: 10_000 } as const

/** Asks every extension what it adds, and makes what project.yaml names; or a sentence for each that fails. */
export async function registerPlugins(
  plugins: Plugins,
  terms: RegisterTerms,
): Promise<Result<Registered, string>> {
  const app = openPluginApp(terms)
  const registry: Registry = { binder: openBinder(plugins, app), scopes: scopesOf(terms.model), routes: [] }
  const faults: string[] = []
  const attempt = async <Made>(
    where: string,
    make: () => Made | Promise<Made>,
  ): Promise<Made | undefined> => {
    try {
      return await bounded(make, PATIENCE.register, `it took longer than ${PATIENCE.register} ms`)
    } catch (error) {
      faults.push(`${where}: ${error instanceof Error ? error.message : String(error)}`)
      return undefined
    }
  }
  for (const [name, extension] of plugins.extensions) {
    const by = `extensions/${name}`
    await attempt(`${by} could not register`, () =>
      extension.register?.({ rest: restService(by, registry), app }),
    )
  }
  const express = await attempt('middlewares of project.yaml', () =>
    terms.settings.middlewares.map(use => registry.binder.express(use)),
  )
  const routesConfig = await attempt('routesConfig of project.yaml', () => bindRoutes(terms, registry))
  if (faults.length > 0 || !express || !routesConfig) return failed(...faults)
  return ok(Object.freeze({ app, routesConfig, routes: registry.routes, express }))
}

interface Registry {
  readonly binder: Binder
  readonly scopes: ReadonlyMap<string, Scope>
  readonly routes: ExtensionRoute[]
}

function openPluginApp({ settings, model, observer }: RegisterTerms): PluginApp {
  return Object.freeze({
    name: settings.name,
    model,
    log: Object.freeze({
      info: (message: string) => observer.tell({ kind: 'pluginSaid', message }),
      warn: (message: string) => observer.tell({ kind: 'pluginWarned', message }),
      error: (message: string, error?: unknown) =>
        observer.tell({ kind: 'pluginFailed', message, ...(error === undefined ? {} : { error }) }),
    }),
  })
}

const PATH = /^(\/(:[A-Za-z_][A-Za-z0-9_]*|[A-Za-z0-9._~-]+))+$/
const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

function restService(by: string, registry: Registry): RestService {
  return {
    route(method, path, handler, terms = {}) {
      if (!METHODS.includes(method)) throw new Error(`no route can have the method ${method}`)
      if (!PATH.test(path)) throw new Error(`\`${path}\` is no path such as /restaurants/:documentId/menu`)
      if (typeof handler !== 'function') throw new Error(`${method} ${path} has no handler`)
      registry.routes.push({ by, method, path, handler, ...bindTerms(terms, registry) })
    },
  }
}

function bindTerms({ auth, policies = [], middlewares = [] }: RouteTerms, { binder, scopes }: Registry) {
  return {
    door: doorOf(auth, scopes),
    policies: policies.map(use => binder.policy(use)),
    middlewares: middlewares.map(use => binder.middleware(use)),
  }
}

/** A scope without permissions lets everybody in, as the reference has it. */
function doorOf(auth: OperationSettings['auth'], scopes: Registry['scopes']): Door {
  if (auth === false) return { kind: 'open' }
  if (auth?.scope === undefined) return { kind: 'own' }
  if (auth.scope.length === 0) return { kind: 'open' }
  return { kind: 'scope', scopes: auth.scope.map(word => scopes.get(word) ?? unknownScope(word, scopes)) }
}

function unknownScope(word: string, scopes: Registry['scopes']): never {
  throw new Error(`unknown permission \`${word}\`${didYouMean(word, scopes.keys())}`)
}

function bindRoutes({ settings, model }: RegisterTerms, registry: Registry): Registered['routesConfig'] {
  const own = new Map([...registry.scopes.values()].map(scope => [`${scope.subject}.${scope.action}`, scope]))
  const uids = new Map(
    [...model.contentTypes.values()].map(({ key, builtIn, uid }) => [key, builtIn ? null : uid]),
  )
  const routes = Object.entries(settings.routesConfig).map(([route, operation]) => {
    const [subject = '', action = ''] = route.split('.')
    const info = { route, type: uids.get(subject) ?? null, action }
    return [route, { info, own: own.get(route) ?? null, ...bindTerms(operation, registry) }] as const
  })
  return new Map(routes)
}
