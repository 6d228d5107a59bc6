import { CHANGES_OF_UPDATE } from '../access/actions.ts'
import { type PermissionScope, permissionScopes } from '../access/permission-scopes.ts'
import { messageWithPlace } from '../base/project-frame.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { rejectAfter, reportSlow } from '../base/with-timeout.ts'
import type { ProjectModels } from '../database/open-models.ts'
import { type EventListener, eventPatternFault, listenerKey } from '../events/events.ts'
import type { StorageDefinition } from '../media/storage/custom-storage.ts'
import type { Model } from '../model/model.ts'
import type { Observer } from '../observe/observation.ts'
import type { Settings } from '../project/settings/settings.ts'
import type { LogFields, PluginApp, PluginLog } from './context.ts'
import type { DocumentsService, Plugins } from './extension.ts'
import type { ExpressMiddleware } from './middleware.ts'
import { nameType, withKnownNames } from './plugin-module.ts'
import type { Models } from './registry.ts'
import {
  compileGuard,
  type ExtensionRoute,
  type GuardedRoute,
  type GuardOptions,
  type RouteGuard,
  type RouterMount,
} from './route-guard.ts'
import { openPluginBinder } from './run-plugins.ts'
import type { DocumentMiddleware, DocumentsApi } from './services/documents-api.ts'
import type { PluginMail } from './services/mail-api.ts'
import type { PluginMedia } from './services/media-api.ts'
import { mediaService, type RegisteredStorages } from './services/media-service.ts'
import { type GraphqlParts, openGraphqlServices } from './services/open-graphql-service.ts'
import {
  bindOptions,
  type RestRegistrations,
  type RouteBinding,
  restService,
} from './services/rest-service.ts'

/** All registrations of plugins, made before the database is opened. */
export interface RegisteredPlugins extends OpenPluginApp {
  /** By `<subject>.<action>`. */
  readonly routesConfig: ReadonlyMap<string, GuardedRoute>
  readonly routes: readonly ExtensionRoute[]
  readonly mounts: readonly RouterMount[]
  /** Wrap every request, in order. */
  readonly express: readonly ExpressMiddleware[]
  /** Wrap every document action, in order. */
  readonly documentMiddlewares: readonly DocumentMiddleware[]
  readonly listeners: readonly EventListener[]
  readonly graphql: GraphqlParts
  readonly storages: RegisteredStorages
  /** Resolves later uses of plugins. */
  readonly binding: RouteBinding
}

/** Milliseconds for each phase of an extension. */
export const TIMEOUTS = { register: 60_000, bootstrap: 60_000, destroy: 10_000 } as const

/** Registers all extensions and binds the plugins named in project.yaml. Fails with one message per failure. */
export async function registerPlugins(
  plugins: Plugins,
  options: AppOptions,
): Promise<Result<RegisteredPlugins, string>> {
  const opened = openPluginApp(options)
  const { app } = opened
  const binding = { binder: openPluginBinder(plugins, app), scopes: permissionScopes(options.model) }
  const routing: RestRegistrations = { routes: [], mounts: [] }
  const hooks: DocumentHooks = { middlewares: [], listeners: [] }
  const graphql = openGraphqlServices(options.model, options.settings.graphql)
  const storages = new Map<string, StorageDefinition>()
  const media = mediaService(storages)
  const faults: string[] = []
  for (const [name, extension] of plugins.extensions) {
    const by = `extensions/${name}`
    const where = `${by} could not register: `
    const state: RegisterState = {
      isOpen: true,
      report: error => faults.push(`${where}${messageWithPlace(error, options.root)}`),
    }
    const rest = restService({ by, prefix: options.settings.rest.prefix }, routing, binding)
    const documents = documentsService(by, hooks, options.model)
    const services = withKnownNames('register(…)', {
      rest: withKnownNames('rest', inRegister(rest, state)),
      documents: withKnownNames('documents', inRegister(documents, state)),
      media: withKnownNames('media', inRegister(media, state)),
      graphql: graphql.open(by, state.report),
      app,
    })
    const made = await attempt({ where, root: options.root }, () =>
      reportSlow(
        () => extension.register?.(services),
        () => app.log.warn(`register of ${by} has not ended yet: the server waits for it`),
      ),
    )
    state.isOpen = false
    if (!made.ok) faults.push(...made.reasons)
  }
  const bound = await attempt({ where: '', root: options.root }, () => bindProject(options, binding))
  if (!bound.ok || faults.length > 0) return failed(...faults, ...(bound.ok ? [] : bound.reasons))
  const { middlewares: documentMiddlewares, listeners } = hooks
  const made = {
    ...bound.value,
    ...routing,
    documentMiddlewares,
    listeners,
    storages,
    binding,
    graphql: graphql.close(),
  }
  return ok(Object.freeze({ ...opened, ...made }))
}

interface RegisterState {
  /** False after `register` of the extension. */
  isOpen: boolean
  readonly report: (error: unknown) => void
}

/** Reports what a call refuses, so that the calls after it are checked, too. Calls after `register` would have no effect. */
function inRegister<Service extends object>(service: Service, state: RegisterState): Service {
  const calls = Object.entries(service).map(([name, call]: [string, (...input: unknown[]) => void]) => {
    const guarded = (...input: unknown[]): void => {
      if (!state.isOpen)
        throw new Error(
          `\`${name}\` can be called in \`register\` alone: now the server has what was registered`,
        )
      try {
        call(...input)
      } catch (error) {
        state.report(error)
      }
    }
    return [name, guarded] as const
  })
  return Object.fromEntries(calls) as Service
}

interface AttemptOptions {
  /** Precedes the message. */
  readonly where: string
  readonly root: string
}

async function attempt<Made>(
  { where, root }: AttemptOptions,
  make: () => Made | Promise<Made>,
): Promise<Result<Made, string>> {
  try {
    return ok(await rejectAfter(TIMEOUTS.register, make))
  } catch (error) {
    return failed(`${where}${messageWithPlace(error, root)}`)
  }
}

function bindProject(
  options: AppOptions,
  binding: RouteBinding,
): Pick<RegisteredPlugins, 'express' | 'routesConfig'> {
  const express = options.settings.middlewares.map(use => binding.binder.express(use))
  return { express, routesConfig: bindRoutes(options, binding) }
}

function bindRoutes(
  { settings, model }: AppOptions,
  binding: RouteBinding,
): RegisteredPlugins['routesConfig'] {
  const own = new Map<string, PermissionScope>(
    [...binding.scopes.values()].map(scope => [`${scope.subject}.${scope.action}`, scope]),
  )
  const types = [...model.contentTypes.values()].filter(type => !type.builtIn)
  const uids = new Map(types.map(({ key, uid }) => [key, uid]))
  const routes = Object.entries(settings.routesConfig).flatMap(([route, operation]) => {
    const [subject = '', action = ''] = route.split('.')
    const info = { route, type: uids.get(subject) ?? null, action }
    const guarded = { info, own: own.get(route) ?? null, ...bindOptions(operation, binding) }
    return [[route, guarded] as const, ...(action === 'update' ? changeRoutes(subject, guarded) : [])]
  })
  return new Map(routes)
}

/**
 * The routes of actions that change a document without being `update`: what is configured for `update` applies to them. The
 * permission that each needs stays its own, unless the configured `auth` replaces that of `update`.
 */
const changeRoutes = (subject: string, update: GuardedRoute) =>
  CHANGES_OF_UPDATE.map(action => {
    const own = update.auth.kind === 'own' ? { subject, action } : update.own
    return [`${subject}.${action}`, { ...update, own }] as const
  })

interface DocumentHooks {
  /** Wrap every document action; the first is outermost. */
  readonly middlewares: DocumentMiddleware[]
  readonly listeners: EventListener[]
}

/** The `documents` service of one extension. */
function documentsService(by: string, hooks: DocumentHooks, model: Model): DocumentsService {
  const places = new Map<string, number>()
  return {
    use(middleware) {
      if (typeof middleware !== 'function') throw new Error('documents.use(…) takes a function')
      const registered: DocumentMiddleware = (context, next) => middleware(context, next)
      hooks.middlewares.push(Object.defineProperty(registered, 'name', { value: by }))
    },
    on(pattern, handle) {
      if (typeof pattern !== 'string')
        throw new Error(`documents.on(…) takes an event such as 'article.create', found ${nameType(pattern)}`)
      const fault = eventPatternFault(pattern, model)
      if (fault !== undefined) throw new Error(fault)
      if (typeof handle !== 'function') throw new Error(`documents.on('${pattern}', …) takes a function`)
      const place = places.get(pattern) ?? 0
      places.set(pattern, place + 1)
      hooks.listeners.push({ key: listenerKey(by, pattern, place), pattern, handle })
    },
  }
}

interface AppOptions {
  /** The folder of the project. */
  readonly root: string
  readonly settings: Settings
  readonly model: Model
  readonly observer: Observer
  readonly mail: PluginMail
}

interface OpenPluginApp {
  readonly app: PluginApp
  /** Makes the parts of `app` available that need a database. */
  connect(parts: DatabaseParts): void
}

interface DatabaseParts {
  readonly documents: DocumentsApi
  readonly models: ProjectModels
  readonly media: PluginMedia
}

function openPluginApp({ settings, model, observer, mail }: Omit<AppOptions, 'root'>): OpenPluginApp {
  let connected: DatabaseParts | undefined
  const parts = (name: string): DatabaseParts => {
    if (connected) return connected
    throw new Error(`app.${name} can be used from bootstrap on: before, there is no database`)
  }
  const app: PluginApp = withKnownNames('app', {
    name: settings.name,
    model,
    mail,
    get documents() {
      return parts('documents').documents
    },
    get media() {
      return parts('media').media
    },
    get sequelize() {
      return parts('sequelize').models.sequelize
    },
    get models() {
      return parts('models').models.models as Models
    },
    get transaction() {
      return parts('transaction').models.transaction
    },
    log: openPluginLog(observer),
  })
  return {
    app: Object.freeze(app),
    connect(input) {
      connected = input
    },
  }
}

/** Guards by subject and action. Routes without routesConfig have none. */
export type RouteGuards = ReadonlyMap<string, ReadonlyMap<string, RouteGuard>>

export function compileGuards({ routesConfig }: RegisteredPlugins, options: GuardOptions): RouteGuards {
  const guards = new Map<string, Map<string, RouteGuard>>()
  for (const [route, guarded] of routesConfig) {
    const [subject = '', action = ''] = route.split('.')
    const actions = guards.get(subject) ?? new Map<string, RouteGuard>()
    guards.set(subject, actions.set(action, compileGuard(guarded, options)))
  }
  return guards
}

/** Starts extensions in order. Returns the reason why the server cannot start, or null. */
export async function bootstrapPlugins(
  { extensions }: Plugins,
  app: PluginApp,
  root: string,
): Promise<string | null> {
  for (const [name, extension] of extensions) {
    try {
      const start = async () => extension.bootstrap?.(withKnownNames('bootstrap(…)', { app }))
      const report = () =>
        app.log.warn(`bootstrap of extensions/${name} has not ended yet: the server waits for it`)
      await rejectAfter(TIMEOUTS.bootstrap, () => reportSlow(start, report))
    } catch (error) {
      return `extensions/${name} could not start: ${messageWithPlace(error, root)}`
    }
  }
  return null
}

/** Ends extensions in reverse order. A failure or timeout is logged and does not stop the others. */
export async function destroyPlugins(
  { extensions }: Plugins,
  app: PluginApp,
  observer: Observer,
): Promise<void> {
  for (const [name, extension] of [...extensions].reverse()) {
    await rejectAfter(TIMEOUTS.destroy, () =>
      extension.destroy?.(withKnownNames('destroy(…)', { app })),
    ).catch((error: unknown) =>
      observer.emit({ kind: 'pluginFailed', message: `extensions/${name} could not end`, error }),
    )
  }
}

/** `app.log`: sentences of plugins, with the values that they add to a line. */
function openPluginLog(observer: Observer): PluginLog {
  const log = {
    info: (...input: LogArguments) => observer.emit({ kind: 'pluginSaid', ...lineOf(input) }),
    warn: (...input: LogArguments) => observer.emit({ kind: 'pluginWarned', ...lineOf(input) }),
    error: (...input: LogArguments) => observer.emit({ kind: 'pluginFailed', ...lineOf(input) }),
  }
  return Object.freeze(withKnownNames('app.log', log))
}

type LogArguments = readonly [LogFields | string, unknown?, unknown?]

interface LogLine {
  readonly message: string
  readonly fields?: LogFields
  readonly error?: unknown
}

/** `(message, error?)` or `(fields, message, error?)`. JavaScript plugins may pass anything. */
function lineOf([first, ...others]: LogArguments): LogLine {
  const hasFields = typeof first === 'object' && first !== null && !(first instanceof Error)
  const [message, error] = hasFields ? others : [first, others[0]]
  return {
    message: String(message ?? ''),
    ...(hasFields && { fields: readFields(first) }),
    ...(error !== undefined && { error }),
  }
}

/** A getter of a plugin may throw, but a log line must not fail the request that writes it. */
function readFields(fields: LogFields): LogFields {
  try {
    return { ...fields }
  } catch (error) {
    return { unreadable: String(error) }
  }
}
