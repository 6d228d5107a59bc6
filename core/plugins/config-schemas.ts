import type { Diagnostic } from '../faults/diagnostic.ts'
import { type CheckValue, compileSchema } from '../project/json-schema.ts'
import { diagnoseModule } from './plugin-fault.ts'
import type { PluginSchema } from './plugin-schema.ts'
import type { Plugins } from './plugins.ts'

export interface ConfigSchemas {
  /** By kind and name: `policy owns-document`. */
  readonly checks: ReadonlyMap<string, CheckValue>
  /** Schemas that are none. */
  readonly faults: readonly Diagnostic[]
}

/** `known`: kind and name → the module's file as shown. */
export function compileSchemas(
  { policies, middlewares }: Plugins,
  known: ReadonlyMap<string, string>,
): ConfigSchemas {
  const checks = new Map<string, CheckValue>()
  const faults: Diagnostic[] = []
  const add = (module: string, key: string, schema: PluginSchema | undefined) => {
    const compiled = schema && compileSchema(schema)
    if (compiled?.ok) checks.set(module, compiled.value)
    else if (compiled) {
      const message = `its \`${key}\` is no JSON Schema: ${compiled.reasons.join('; ')}`
      faults.push(diagnoseModule('bad-module', message, { file: known.get(module) ?? module }))
    }
  }
  for (const [name, { configSchema }] of policies) add(`policy ${name}`, 'configSchema', configSchema)
  for (const [name, { optionsSchema }] of middlewares)
    add(`middleware ${name}`, 'optionsSchema', optionsSchema)
  return { checks, faults }
}
