import type { Json } from '../project/settings/settings.ts'
import type { PluginApp, PolicyContext } from './context.ts'
import { assertDefinition, KIND, type PluginSchema } from './plugin-module.ts'

/** `true` and `undefined` pass; other values, a throw and a rejection refuse. */
export type PolicyAnswer = boolean | undefined | Promise<boolean | undefined>

/** Definition of a policy. `Config`: type of the config in project.yaml; `{}` if there is none. */
export interface PolicyDefinition<Config = Json> {
  /** Validates `config` in project.yaml when the project is loaded. */
  readonly configSchema?: PluginSchema
  check(context: PolicyContext, config: Config, app: PluginApp): PolicyAnswer
}

/** Short form of a definition. */
export type PolicyCheck<Config = Json> = PolicyDefinition<Config>['check']

/** Default export of a module in policies/. */
export interface Policy<Config = Json> extends PolicyDefinition<Config> {
  readonly [KIND]: 'policy'
}

/** Defines a policy, which allows or refuses a request over REST and GraphQL. */
export const definePolicy = <Config = Json>(
  definition: PolicyDefinition<Config> | PolicyCheck<Config>,
): Policy<Config> => {
  const input = typeof definition === 'function' ? { check: definition } : definition
  assertDefinition(input, { functions: ['check'], others: ['configSchema'] }, 'definePolicy(…)')
  if (input.check === undefined)
    throw new Error('definePolicy(…) has no `check`: a function that allows or refuses a request')
  return Object.freeze({
    ...input,
    [KIND]: 'policy' as const,
  })
}
