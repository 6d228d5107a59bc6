import type { Json } from '../project/settings.ts'
import type { RouteMiddlewareUse, RoutePolicy } from './extension.ts'
import type { ExpressMiddleware } from './middleware.ts'
import type { BoundMiddleware } from './middlewares.ts'
import type { PluginApp } from './plugin-app.ts'
import type { Plugins } from './plugins.ts'
import type { BoundPolicy } from './policies.ts'

/**
 * Uses of plugins → what runs, with config, options and app given; each is made once, when the server opens.
 * Throws Error, in a sentence, for a name that nothing has: those of project.yaml were checked before.
 */
export interface Binder {
  policy(use: RoutePolicy): BoundPolicy
  middleware(use: RouteMiddlewareUse): BoundMiddleware
  express(use: { readonly name: string; readonly options?: unknown }): ExpressMiddleware
}

export function openBinder({ policies, middlewares }: Plugins, app: PluginApp): Binder {
  return {
    policy(use) {
      if (typeof use === 'function') return inlinePolicy(use, app)
      const { name, config } = typeof use === 'string' ? { name: use, config: null } : use
      const policy = policies.get(name) ?? missing('policy', name)
      const given = givenTo(config)
      return { name, check: context => policy.check(context, given, app) }
    },
    middleware(use) {
      if (typeof use === 'function') return { name: use.name || INLINE, run: use }
      const { name, options } = typeof use === 'string' ? { name: use, options: null } : use
      const middleware = middlewares.get(name) ?? missing('middleware', name)
      return { name, run: functionOf(middleware.route?.(givenTo(options), app), `${name}.route`) }
    },
    express({ name, options }) {
      const middleware = middlewares.get(name) ?? missing('middleware', name)
      return functionOf(middleware.express?.(givenTo(options), app), `${name}.express`)
    },
  }
}

const INLINE = 'of a route'

const inlinePolicy = (
  use: Extract<RoutePolicy, (...given: never[]) => unknown>,
  app: PluginApp,
): BoundPolicy => ({
  name: use.name || INLINE,
  check: context => context.kind === 'rest' && use(context, app),
})

/** What stands in project.yaml was checked where the plugin has a schema; what code gives is as its author wrote it. */
const givenTo = (given: unknown): Json => (given ?? {}) as Json

function missing(kind: string, name: string): never {
  throw new Error(`there is no ${kind} \`${name}\``)
}

/** Plugins in JavaScript are held to what TypeScript promises. */
function functionOf<Made>(made: Made | undefined, place: string): Made {
  if (typeof made === 'function') return made
  throw new Error(`the middleware ${place} does not return a function`)
}
