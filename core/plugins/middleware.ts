import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Json } from '../project/settings/settings.ts'
import type { PluginApp, ResolverContext, ResolverInfo, RestContext } from './context.ts'
import { assertDefinition, KIND, type PluginSchema } from './plugin-module.ts'

/** Wraps a REST route. `next` runs the inner handler, at most once; its response is then in the context. */
export type RouteMiddleware = (context: RestContext, next: () => Promise<void>) => unknown

/** Wraps a GraphQL resolver. `next` returns the resolver's value; the middleware may return another one. */
export type ResolverMiddleware = (
  next: ResolveField,
  parent: unknown,
  args: Readonly<Record<string, unknown>>,
  context: ResolverContext,
  info: ResolverInfo,
) => unknown

/** Omitted arguments keep their values. */
export type ResolveField = (
  parent?: unknown,
  args?: Readonly<Record<string, unknown>>,
  context?: ResolverContext,
  info?: ResolverInfo,
) => Promise<unknown>

/** Any Express middleware. Declared as a method, so that handlers with Express's own types are assignable. */
export type ExpressMiddleware = {
  handle(request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): unknown
}['handle']

/** Definition of a middleware, for one or several of: routes, resolvers, all requests. */
export interface MiddlewareDefinition<Options = Json> {
  /** Validates `options` in project.yaml when the project is loaded. */
  readonly optionsSchema?: PluginSchema
  route?(options: Options, app: PluginApp): RouteMiddleware
  resolver?(options: Options, app: PluginApp): ResolverMiddleware
  /** Wraps every request, in the order of `middlewares:` in project.yaml. */
  express?(options: Options, app: PluginApp): ExpressMiddleware
}

/** Default export of a module in middlewares/. */
export interface Middleware<Options = Json> extends MiddlewareDefinition<Options> {
  readonly [KIND]: 'middleware'
}

const FORMS = ['route', 'resolver', 'express'] as const

export type MiddlewareForm = (typeof FORMS)[number]

/** Defines a middleware. `Options`: type of the options in project.yaml; `{}` if there are none. */
export const defineMiddleware = <Options = Json>(
  definition: MiddlewareDefinition<Options>,
): Middleware<Options> => {
  assertDefinition(definition, { functions: FORMS, others: ['optionsSchema'] }, 'defineMiddleware(…)')
  if (!FORMS.some(form => definition[form]))
    throw new Error(`defineMiddleware(…) wraps nothing: it needs a function ${FORMS.join(', ')}`)
  return Object.freeze({ ...definition, [KIND]: 'middleware' as const })
}

const FORM_NAMES: Readonly<Record<MiddlewareForm, string>> = {
  route: 'a route',
  resolver: 'a resolver',
  express: 'every request',
}

/** Why a middleware cannot be used where it needs this form, and what to add. `file`: its module. */
export function missingForm(middleware: MiddlewareDefinition, form: MiddlewareForm, file: string): string {
  const has = Object.keys(FORM_NAMES).filter(each => Object.hasOwn(middleware, each))
  const others = has.length === 0 ? '' : `, but ${has.map(each => `\`${each}\``).join(' and ')}`
  return `${file} cannot wrap ${FORM_NAMES[form]}: it has no \`${form}\`${others}. Add \`${form}\` to defineMiddleware(…)`
}
