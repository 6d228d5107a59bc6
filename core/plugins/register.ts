import { type PermissionScope, permissionScopes } from '../access/permission-scopes.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { rejectAfter } from '../base/with-timeout.ts'
import type { EventListener } from '../events/events.ts'
import { openBinder } from './bind.ts'
import type { ExtensionRoute } from './extension-route.ts'
import type { ExpressMiddleware } from './middleware.ts'
import type { Plugins } from './plugins.ts'
import type { GuardedRoute } from './route-guard.ts'
import type { DocumentMiddleware } from './services/documents-api.ts'
import { documentsService, type Hooks } from './services/documents-service.ts'
import { type GraphqlParts, openGraphqlServices } from './services/open-graphql-service.ts'
import { type AppTerms, type OpenPluginApp, openPluginApp } from './services/open-plugin-app.ts'
import { bindTerms, type RouteBinding, restService } from './services/rest-service.ts'

/** Everything that plugins take part in, before the database is opened. */
export interface Registered extends OpenPluginApp {
  /** By `<subject>.<action>`. */
  readonly routesConfig: ReadonlyMap<string, GuardedRoute>
  readonly routes: readonly ExtensionRoute[]
  /** Round every request, in order. */
  readonly express: readonly ExpressMiddleware[]
  /** Round every document action, in order. */
  readonly documentMiddlewares: readonly DocumentMiddleware[]
  readonly listeners: readonly EventListener[]
  readonly graphql: GraphqlParts
  /** What later uses of plugins are looked up in. */
  readonly binding: RouteBinding
}

/** Milliseconds that an extension may take to register, to start, to end. */
export const TIMEOUTS = { register: 60_000, bootstrap: 60_000, destroy: 10_000 } as const

/** Asks every extension what it adds, and makes what project.yaml names; or a sentence for each that fails. */
export async function registerPlugins(
  plugins: Plugins,
  terms: AppTerms,
): Promise<Result<Registered, string>> {
  const opened = openPluginApp(terms)
  const { app } = opened
  const binding = { binder: openBinder(plugins, app), scopes: permissionScopes(terms.model) }
  const routes: ExtensionRoute[] = []
  const hooks: Hooks = { middlewares: [], listeners: [] }
  const graphql = openGraphqlServices(terms.model, terms.settings.graphql)
  const faults: string[] = []
  for (const [name, extension] of plugins.extensions) {
    const by = `extensions/${name}`
    const rest = restService(by, route => routes.push(route), binding)
    const documents = documentsService(by, hooks, terms.model)
    const made = await attempt(`${by} could not register`, () =>
      extension.register?.({ graphql: graphql.open(by), rest, documents, app }),
    )
    if (!made.ok) faults.push(...made.reasons)
  }
  const bound = await attempt('project.yaml', () => bindProject(terms, binding))
  if (!bound.ok || faults.length > 0) return failed(...faults, ...(bound.ok ? [] : bound.reasons))
  const { middlewares: documentMiddlewares, listeners } = hooks
  const made = { ...bound.value, routes, documentMiddlewares, listeners, binding, graphql: graphql.close() }
  return ok(Object.freeze({ ...opened, ...made }))
}

async function attempt<Made>(where: string, make: () => Made | Promise<Made>): Promise<Result<Made, string>> {
  try {
    return ok(await rejectAfter(TIMEOUTS.register, make))
  } catch (error) {
    return failed(`${where}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function bindProject(terms: AppTerms, binding: RouteBinding): Pick<Registered, 'express' | 'routesConfig'> {
  const express = terms.settings.middlewares.map(use => binding.binder.express(use))
  return { express, routesConfig: bindRoutes(terms, binding) }
}

function bindRoutes({ settings, model }: AppTerms, binding: RouteBinding): Registered['routesConfig'] {
  const own = new Map<string, PermissionScope>(
    [...binding.scopes.values()].map(scope => [`${scope.subject}.${scope.action}`, scope]),
  )
  const types = [...model.contentTypes.values()].filter(type => !type.builtIn)
  const uids = new Map(types.map(({ key, uid }) => [key, uid]))
  const routes = Object.entries(settings.routesConfig).map(([route, operation]) => {
    const [subject = '', action = ''] = route.split('.')
    const info = { route, type: uids.get(subject) ?? null, action }
    return [route, { info, own: own.get(route) ?? null, ...bindTerms(operation, binding) }] as const
  })
  return new Map(routes)
}
