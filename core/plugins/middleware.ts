import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Json } from '../project/settings/settings.ts'
import type { ResolverContext, ResolverInfo, RestContext } from './context.ts'
import { KIND } from './kind.ts'
import { assertKeys } from './known-keys.ts'
import type { PluginSchema } from './plugin-schema.ts'
import type { PluginApp } from './services/plugin-app.ts'

/** Runs round a REST route. `next` runs what is inside, and may be called once; what it answered is in the context. */
export type RouteMiddleware = (context: RestContext, next: () => Promise<void>) => unknown

/** Runs round a resolver of GraphQL. `next` answers what the resolver does, as the middleware may do in its place. */
export type ResolverMiddleware = (
  next: ResolveField,
  parent: unknown,
  args: Readonly<Record<string, unknown>>,
  context: ResolverContext,
  info: ResolverInfo,
) => unknown

/** What is left out is as it was. */
export type ResolveField = (
  parent?: unknown,
  args?: Readonly<Record<string, unknown>>,
  context?: ResolverContext,
  info?: ResolverInfo,
) => Promise<unknown>

/** Any middleware made for Express. As a method, so that handlers that ask for Express's own types fit too. */
export type ExpressMiddleware = {
  handle(request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): unknown
}['handle']

/** A middleware as its author writes it: for one or several of the places where one can stand. */
export interface MiddlewareDefinition<Options = Json> {
  /** Checks the project file that uses the middleware, at load. */
  readonly optionsSchema?: PluginSchema
  route?(options: Options, app: PluginApp): RouteMiddleware
  resolver?(options: Options, app: PluginApp): ResolverMiddleware
  /** Round every request, in the order of `middlewares:` in project.yaml. */
  express?(options: Options, app: PluginApp): ExpressMiddleware
}

/** What a module of middlewares/ exports. */
export interface Middleware<Options = Json> extends MiddlewareDefinition<Options> {
  readonly [KIND]: 'middleware'
}

/** Code round a route, a resolver, or every request. `Options`: what project.yaml gives it, `{}` where it gives nothing. */
export const defineMiddleware = <Options = Json>(
  definition: MiddlewareDefinition<Options>,
): Middleware<Options> => {
  assertKeys(definition, ['optionsSchema', 'route', 'resolver', 'express'], 'defineMiddleware(…)')
  return Object.freeze({ ...definition, [KIND]: 'middleware' as const })
}
