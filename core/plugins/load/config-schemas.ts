import type { Diagnostic } from '../../faults/diagnostic.ts'
import type { CheckValue } from '../../project/grammar/json-schema.ts'
import { diagnoseModule } from '../plugin-fault.ts'
import type { PluginSchema } from '../plugin-schema.ts'
import type { Plugins } from '../plugins.ts'

export interface ConfigSchemas {
  /** By kind and name: `policy owns-document`. */
  readonly checks: ReadonlyMap<string, CheckValue>
  /** Schemas that are none. */
  readonly faults: readonly Diagnostic[]
}

/** `known`: kind and name → the module's file as shown. */
export async function compileSchemas(
  { policies, middlewares }: Plugins,
  known: ReadonlyMap<string, string>,
): Promise<ConfigSchemas> {
  const given = [
    ...Array.from(policies, ([name, { configSchema }]) =>
      toGiven(`policy ${name}`, 'configSchema', configSchema),
    ),
    ...Array.from(middlewares, ([name, { optionsSchema }]) =>
      toGiven(`middleware ${name}`, 'optionsSchema', optionsSchema),
    ),
  ].flat()
  return given.length === 0 ? NONE : compileAll(given, known)
}

const NONE: ConfigSchemas = { checks: new Map(), faults: [] }

interface Given {
  readonly module: string
  readonly key: string
  readonly schema: PluginSchema
}

const toGiven = (module: string, key: string, schema: PluginSchema | undefined): readonly Given[] =>
  schema ? [{ module, key, schema }] : []

/** Its compiler is loaded only where there is something to compile. */
async function compileAll(
  given: readonly Given[],
  known: ReadonlyMap<string, string>,
): Promise<ConfigSchemas> {
  const { compileSchema } = await import('../../project/grammar/json-schema.ts')
  const checks = new Map<string, CheckValue>()
  const faults: Diagnostic[] = []
  for (const { module, key, schema } of given) {
    const compiled = compileSchema(schema)
    if (compiled.ok) checks.set(module, compiled.value)
    else {
      const message = `its \`${key}\` is no JSON Schema: ${compiled.reasons.join('; ')}`
      faults.push(diagnoseModule('bad-module', message, { file: known.get(module) ?? module }))
    }
  }
  return { checks, faults }
}
