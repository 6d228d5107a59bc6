import type { EventHandler, EventPattern } from '../events/events.ts'
import type { CheckValue } from '../project/grammar/json-schema.ts'
import type { PluginApp, RestContext } from './context.ts'
import type { ScopeName, TypeKey } from './document-types.ts'
import type { ExpressMiddleware, Middleware, RouteMiddleware } from './middleware.ts'
import { assertDefinition, KIND } from './plugin-module.ts'
import type { Policy, PolicyAnswer } from './policy.ts'
import type { NamedMiddleware, NamedPolicy } from './registry.ts'
import type { RequestState } from './request-state.ts'
import type { DocumentMiddleware } from './services/documents-api.ts'
import type { GraphqlService } from './services/graphql-service.ts'
import type { MediaService } from './services/media-service.ts'

/** Definition of an extension. Routes and hooks are registered before the database is opened. */
export interface ExtensionDefinition {
  register?(services: ExtensionServices): void | Promise<void>
  /** Runs before the first request. If it fails, the server does not start. */
  bootstrap?(running: { readonly app: PluginApp }): unknown
  /** Runs after the last response. */
  destroy?(running: { readonly app: PluginApp }): unknown
}

export interface ExtensionServices {
  readonly graphql: GraphqlService
  readonly rest: RestService
  readonly documents: DocumentsService
  readonly media: MediaService
  readonly app: PluginApp
}

export interface DocumentsService {
  /** Wraps every document action, of REST, GraphQL mutations and code; the first registered is outermost. */
  use(middleware: DocumentMiddleware): void
  /** Handles events (`article.publish`, `article.*`) after the commit, at least once. */
  on(pattern: EventPattern<TypeKey>, handler: EventHandler): void
}

export interface RestService {
  /**
   * Adds a route. `path` is relative to the prefix: `/restaurants/nearest` or `/restaurants/:documentId/menu`. Values of
   * parameters such as `:documentId` are in `context.args`.
   */
  route(method: RouteMethod, path: string, handler: RouteHandler, options?: RouteOptions): void
  /**
   * Mounts an Express router. `path` is relative to the prefix: `/shop` is `/api/shop`, and the paths of the router are
   * below it. Its handlers find the caller in `response.locals.plinth`.
   */
  mount(path: string, router: ExpressMiddleware, options?: MountOptions): void
}

/** Who may enter a mounted router: as for a route. */
export type MountOptions = Pick<RouteOptions, 'auth' | 'policies'>

/** A request to a mounted router: `response.locals.plinth`. */
export interface MountedRequest {
  readonly app: PluginApp
  /** The caller: `state.user`, `state.role`, `state.ability`. */
  readonly state: RequestState
  /** As in the log and in the response header X-Request-Id. */
  readonly requestId: string
}

declare global {
  namespace Express {
    interface Locals {
      /** Set in routers that an extension mounts with `rest.mount`. */
      plinth: MountedRequest
    }
  }
}

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Responds with its return value (JSON; undefined: 204), or through `context.http.response`. In a route that replaces a
 * generated one, `next` performs the generated action and returns its body. It rejects as the action does.
 */
export type RouteHandler = (context: RestContext, next: GeneratedAction) => unknown

/** Performs the generated action. The type of its body depends on the route: name it as the parameter. */
export type GeneratedAction = <Body = GeneratedBody>() => Promise<Body>

/** The body of a route of a content-type. */
export interface GeneratedBody {
  readonly data: unknown
  readonly meta: Readonly<Record<string, unknown>>
}

export interface RouteOptions {
  /**
   * false: public. With `scope`, the caller needs all of its permissions (none if empty). By default the route is for
   * signed-in users and full-access tokens.
   */
  readonly auth?: false | { readonly scope?: readonly ScopeName[] }
  readonly policies?: readonly RoutePolicy[]
  readonly middlewares?: readonly RouteMiddlewareUse[]
  /**
   * The route takes the place of the generated route with this method and path, and calls it with `next()`. It keeps the
   * permission, policies and middlewares of that route.
   */
  readonly replaces?: true
}

/** A policy by name, by name with config, or as a function. */
export type RoutePolicy = NamedPolicy | ((context: RestContext, app: PluginApp) => PolicyAnswer)

/** A middleware by name, by name with options, or as a function. */
export type RouteMiddlewareUse = NamedMiddleware | RouteMiddleware

/** Default export of a module in extensions/. */
export interface Extension extends ExtensionDefinition {
  readonly [KIND]: 'extension'
}

export function defineExtension(definition: ExtensionDefinition): Extension {
  assertDefinition(definition, { functions: ['register', 'bootstrap', 'destroy'] }, 'defineExtension(…)')
  return Object.freeze({ ...definition, [KIND]: 'extension' as const })
}

/** A project's plugins by name, loaded and checked, but not registered. */
export interface Plugins {
  readonly policies: ReadonlyMap<string, Policy>
  readonly middlewares: ReadonlyMap<string, Middleware>
  readonly extensions: ReadonlyMap<string, Extension>
  /** Checks of `configSchema` and `optionsSchema`, by kind and name: `policy owns-document`. */
  readonly checks: ReadonlyMap<string, CheckValue>
  /** Absolute paths of all loaded modules of the project, including imported ones. */
  readonly files: readonly string[]
}
