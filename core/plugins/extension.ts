import type { EventHandler, EventPattern } from '../events/events.ts'
import type { RestContext } from './context.ts'
import { KIND } from './kind.ts'
import { assertKeys } from './known-keys.ts'
import type { RouteMiddleware } from './middleware.ts'
import type { PolicyAnswer } from './policy.ts'
import type { NamedMiddleware, NamedPolicy } from './registry.ts'
import type { DocumentMiddleware } from './services/documents-api.ts'
import type { GraphqlService } from './services/graphql-service.ts'
import type { PluginApp } from './services/plugin-app.ts'

/** An extension as its author writes it. Its routes and hooks are registered before the database is opened. */
export interface ExtensionDefinition {
  register?(services: ExtensionServices): void | Promise<void>
  /** Before the first request; where it fails, the server does not start. */
  bootstrap?(running: { readonly app: PluginApp }): unknown
  /** After the last answer. */
  destroy?(running: { readonly app: PluginApp }): unknown
}

export interface ExtensionServices {
  readonly graphql: GraphqlService
  readonly rest: RestService
  readonly documents: DocumentsService
  readonly app: PluginApp
}

export interface DocumentsService {
  /** Runs round every document action, of REST and of code; the first that is given is outermost. */
  use(middleware: DocumentMiddleware): void
  /** Runs after the commit of what it names (`article.publish`, `article.*`), at least once. */
  on(pattern: EventPattern, handler: EventHandler): void
}

export interface RestService {
  /**
   * A route of its own. `path`: below the prefix, `/restaurants/nearest` or `/restaurants/:documentId/menu`;
   * what stands for `:name` is in `context.args`.
   */
  route(method: RouteMethod, path: string, handler: RouteHandler, terms?: RouteTerms): void
}

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Answers by what it returns (JSON; undefined: 204), or by `context.http.response`. */
export type RouteHandler = (context: RestContext) => unknown

export interface RouteTerms {
  /**
   * false opens it to everybody; a scope asks for all of its permissions (an empty one for none). Without either
   * it is for signed-in users and full-access tokens.
   */
  readonly auth?: false | { readonly scope?: readonly string[] }
  readonly policies?: readonly RoutePolicy[]
  readonly middlewares?: readonly RouteMiddlewareUse[]
}

/** A policy by its name, with its config, or a function. */
export type RoutePolicy = NamedPolicy | ((context: RestContext, app: PluginApp) => PolicyAnswer)

/** A middleware by its name, with its options, or a function. */
export type RouteMiddlewareUse = NamedMiddleware | RouteMiddleware

/** What a module of extensions/ exports. */
export interface Extension extends ExtensionDefinition {
  readonly [KIND]: 'extension'
}

export function defineExtension(definition: ExtensionDefinition): Extension {
  assertKeys(definition, ['register', 'bootstrap', 'destroy'], 'defineExtension(…)')
  return Object.freeze({ ...definition, [KIND]: 'extension' as const })
}
