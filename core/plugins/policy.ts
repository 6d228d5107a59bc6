import type { Json } from '../project/settings/settings.ts'
import type { PolicyContext } from './context.ts'
import { KIND } from './kind.ts'
import { assertKeys } from './known-keys.ts'
import type { PluginSchema } from './plugin-schema.ts'
import type { PluginApp } from './services/plugin-app.ts'

/** `true` and `undefined` pass; anything else, a throw and a rejection refuse. */
export type PolicyAnswer = boolean | undefined | Promise<boolean | undefined>

/** A policy as its author writes it. `Config`: what project.yaml gives it, `{}` where it gives nothing. */
export interface PolicyDefinition<Config = Json> {
  /** Checks the project file that uses the policy, at load. */
  readonly configSchema?: PluginSchema
  check(context: PolicyContext, config: Config, app: PluginApp): PolicyAnswer
}

/** The short form: the check alone. */
export type PolicyCheck<Config = Json> = PolicyDefinition<Config>['check']

/** What a module of policies/ exports. */
export interface Policy<Config = Json> extends PolicyDefinition<Config> {
  readonly [KIND]: 'policy'
}

/** Decides whether a request may go on, over REST and GraphQL alike. */
export const definePolicy = <Config = Json>(
  definition: PolicyDefinition<Config> | PolicyCheck<Config>,
): Policy<Config> => {
  if (typeof definition !== 'function') assertKeys(definition, ['configSchema', 'check'], 'definePolicy(…)')
  return Object.freeze({
    ...(typeof definition === 'function' ? { check: definition } : definition),
    [KIND]: 'policy' as const,
  })
}
