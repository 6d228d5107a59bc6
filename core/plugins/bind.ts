import { didYouMean } from '../base/nearest.ts'
import type { Json } from '../project/settings/settings.ts'
import type { PluginApp } from './context.ts'
import type { Plugins, RouteMiddlewareUse, RoutePolicy } from './extension.ts'
import type { ExpressMiddleware, ResolverMiddleware } from './middleware.ts'
import { assertKnownKeys } from './plugin-module.ts'
import type { BoundMiddleware, BoundPolicy } from './run-plugins.ts'
import type { ResolverMiddlewareUse, ResolverPolicy } from './services/graphql-service.ts'

/**
 * Resolves uses of plugins to functions, with config, options and app bound. Each use is bound once, at start. Throws an
 * Error for unknown names; names in project.yaml were checked before.
 */
export interface PluginBinder {
  policy(use: RoutePolicy): BoundPolicy
  middleware(use: RouteMiddlewareUse): BoundMiddleware
  resolverPolicy(use: ResolverPolicy): BoundPolicy
  resolverMiddleware(use: ResolverMiddlewareUse): ResolverMiddleware
  express(use: { readonly name: string; readonly options?: unknown }): ExpressMiddleware
}

export function openPluginBinder({ policies, middlewares }: Plugins, app: PluginApp): PluginBinder {
  const named = (use: unknown): BoundPolicy => {
    const { name, given: config } = parseUse(use, 'policy')
    const policy = policies.get(name) ?? throwUnknown('policy', name, policies.keys())
    const given = toOptions(config)
    return { name, check: context => policy.check(context, given, app) }
  }
  return {
    policy: use =>
      typeof use === 'function'
        ? inline(use, context => context.kind === 'rest' && use(context, app))
        : named(use),
    middleware(use) {
      if (typeof use === 'function') return { name: use.name || INLINE, run: use }
      const { name, given: options } = parseUse(use, 'middleware')
      const middleware = middlewares.get(name) ?? throwUnknown('middleware', name, middlewares.keys())
      return { name, run: requireFunction(middleware.route?.(toOptions(options), app), `${name}.route`) }
    },
    resolverPolicy: use =>
      typeof use === 'function'
        ? inline(use, context => context.kind === 'graphql' && use(context, app))
        : named(use),
    resolverMiddleware(use) {
      if (typeof use === 'function') return use
      const { name, given: options } = parseUse(use, 'middleware')
      const middleware = middlewares.get(name) ?? throwUnknown('middleware', name, middlewares.keys())
      return requireFunction(middleware.resolver?.(toOptions(options), app), `${name}.resolver`)
    },
    express({ name, options }) {
      const middleware = middlewares.get(name) ?? throwUnknown('middleware', name, middlewares.keys())
      return requireFunction(middleware.express?.(toOptions(options), app), `${name}.express`)
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

interface RawUse {
  readonly name: string
  readonly config?: unknown
  readonly options?: unknown
}

const isNamed = (use: unknown): use is RawUse =>
  typeof use === 'object' && use !== null && 'name' in use && typeof use.name === 'string'

/** `config` and `options` are synonyms; giving both is an error. */
function parseUse(use: unknown, kind: 'policy' | 'middleware'): NamedUse {
  if (typeof use === 'string') return { name: use, given: undefined }
  if (isNamed(use)) {
    const { name, config, options } = use
    assertKnownKeys(use, ['name', 'config', 'options'], `the ${kind} \`${name}\``)
    if (config !== undefined && options !== undefined)
      throw new Error(`the ${kind} \`${name}\` has both config and options, which mean the same`)
    return { name, given: config ?? options }
  }
  throw new Error('policies and middlewares are names, objects with a name, or functions')
}

/** Values of project.yaml were checked against the plugin's schema, if it has one. Values from code are not checked. */
const toOptions = (given: unknown): Json => (given ?? {}) as Json

function throwUnknown(kind: string, name: string, known: Iterable<string>): never {
  throw new Error(`there is no ${kind} \`${name}\`${didYouMean(name, known)}`)
}

function requireFunction<Made>(made: Made | undefined, place: string): Made {
  if (typeof made === 'function') return made
  throw new Error(`the middleware ${place} does not exist, or does not return a function`)
}
