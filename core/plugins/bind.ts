import { didYouMean } from '../base/nearest.ts'
import type { Json } from '../project/settings/settings.ts'
import type { RouteMiddlewareUse, RoutePolicy } from './extension.ts'
import { assertKeys } from './known-keys.ts'
import type { ExpressMiddleware, ResolverMiddleware } from './middleware.ts'
import type { BoundMiddleware } from './middlewares.ts'
import type { Plugins } from './plugins.ts'
import type { BoundPolicy } from './policies.ts'
import type { ResolverMiddlewareUse, ResolverPolicy } from './services/graphql-service.ts'
import type { PluginApp } from './services/plugin-app.ts'

/**
 * Uses of plugins → what runs, with config, options and app given; each is made once, when the server opens.
 * Throws Error, in a sentence, for a name that nothing has: those of project.yaml were checked before.
 */
export interface Binder {
  policy(use: RoutePolicy): BoundPolicy
  middleware(use: RouteMiddlewareUse): BoundMiddleware
  resolverPolicy(use: ResolverPolicy): BoundPolicy
  resolverMiddleware(use: ResolverMiddlewareUse): ResolverMiddleware
  express(use: { readonly name: string; readonly options?: unknown }): ExpressMiddleware
}

export function openBinder({ policies, middlewares }: Plugins, app: PluginApp): Binder {
  const named = (use: unknown): BoundPolicy => {
    const { name, given: config } = parts(use, 'policy')
    const policy = policies.get(name) ?? missing('policy', name, policies.keys())
    const given = givenTo(config)
    return { name, check: context => policy.check(context, given, app) }
  }
  return {
    policy: use =>
      typeof use === 'function'
        ? inline(use, context => context.kind === 'rest' && use(context, app))
        : named(use),
    middleware(use) {
      if (typeof use === 'function') return { name: use.name || INLINE, run: use }
      const { name, given: options } = parts(use, 'middleware')
      const middleware = middlewares.get(name) ?? missing('middleware', name, middlewares.keys())
      return { name, run: functionOf(middleware.route?.(givenTo(options), app), `${name}.route`) }
    },
    resolverPolicy: use =>
      typeof use === 'function'
        ? inline(use, context => context.kind === 'graphql' && use(context, app))
        : named(use),
    resolverMiddleware(use) {
      if (typeof use === 'function') return use
      const { name, given: options } = parts(use, 'middleware')
      const middleware = middlewares.get(name) ?? missing('middleware', name, middlewares.keys())
      return functionOf(middleware.resolver?.(givenTo(options), app), `${name}.resolver`)
    },
    express({ name, options }) {
      const middleware = middlewares.get(name) ?? missing('middleware', name, middlewares.keys())
      return functionOf(middleware.express?.(givenTo(options), app), `${name}.express`)
    },
  }
}

const INLINE = 'a function of an extension'

const inline = (use: { readonly name: string }, check: BoundPolicy['check']): BoundPolicy => ({
  name: use.name || INLINE,
  check,
})

interface NamedUse {
  readonly name: string
  readonly given: unknown
}

interface GivenUse {
  readonly name: string
  readonly config?: unknown
  readonly options?: unknown
}

const isNamed = (use: unknown): use is GivenUse =>
  typeof use === 'object' && use !== null && 'name' in use && typeof use.name === 'string'

/** `config` and `options` are two words for what a policy or a middleware is given; both at once are one too many. */
function parts(use: unknown, kind: 'policy' | 'middleware'): NamedUse {
  if (typeof use === 'string') return { name: use, given: undefined }
  if (isNamed(use)) {
    const { name, config, options } = use
    assertKeys(use, ['name', 'config', 'options'], `the ${kind} \`${name}\``)
    if (config !== undefined && options !== undefined)
      throw new Error(`the ${kind} \`${name}\` has both config and options, which mean the same`)
    return { name, given: config ?? options }
  }
  throw new Error('policies and middlewares are names, objects with a name, or functions')
}

/** What stands in project.yaml was checked where the plugin has a schema; what code gives is as its author wrote it. */
const givenTo = (given: unknown): Json => (given ?? {}) as Json

function missing(kind: string, name: string, known: Iterable<string>): never {
  throw new Error(`there is no ${kind} \`${name}\`${didYouMean(name, known)}`)
}

function functionOf<Made>(made: Made | undefined, place: string): Made {
  if (typeof made === 'function') return made
  throw new Error(`the middleware ${place} is none, or does not return a function`)
}
