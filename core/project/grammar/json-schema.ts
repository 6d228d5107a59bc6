import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { once } from '../../base/memo.ts'
import { didYouMean } from '../../base/nearest.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import type { Path } from '../../faults/diagnostic.ts'

/** A mismatch between a value and a schema. `path` starts at the value's root. */
export interface SchemaMismatch {
  readonly path: Path
  readonly message: string
}

export type CheckValue = (value: unknown) => readonly SchemaMismatch[]

/** Compiles a JSON Schema of a plugin. Fails with the reason if the schema is invalid. */
export function compileJsonSchema(schema: object): Result<CheckValue, string> {
  try {
    const validate = compileWith(sharedAjv(), schema) ?? openAjv().compile(schema)
    return ok(value => (validate(value) ? [] : (validate.errors ?? []).map(toMismatch)))
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error))
  }
}

const openAjv = (): Ajv2020 =>
  new Ajv2020({
    allErrors: true,
    verbose: true,
    strict: false,
    validateFormats: false,
    logger: false,
    // Compiling the meta-schema takes longer than compiling all schemas, which finds errors as well.
    validateSchema: false,
  })

const sharedAjv = once(openAjv)

/** null: the schema is invalid, or its `$id` was compiled before. */
function compileWith(ajv: Ajv2020, schema: object): ValidateFunction | null {
  try {
    const validate = ajv.compile(schema)
    ajv.removeSchema(schema)
    return validate
  } catch {
    return null
  }
}

function toMismatch(error: ErrorObject): SchemaMismatch {
  const path = error.instancePath.split('/').slice(1).map(toStep)
  const { additionalProperty, missingProperty, allowedValues } = error.params
  if (error.keyword === 'required') return { path, message: `missing key \`${missingProperty}\`` }
  if (error.keyword === 'additionalProperties') {
    const known = Object.keys(error.parentSchema?.properties ?? {})
    const hint = didYouMean(String(additionalProperty), known)
    return {
      path: [...path, String(additionalProperty)],
      message: `unknown key \`${additionalProperty}\`${hint}`,
    }
  }
  if (error.keyword === 'enum') {
    if ([allowedValues].flat().length === 0) return { path, message: 'no value is valid here' }
    return {
      path,
      message: `expected one of ${[allowedValues]
        .flat()
        .map(word => `\`${word}\``)
        .join(', ')}`,
    }
  }
  if (error.keyword === 'type')
    return { path, message: `expected ${[error.params.type].flat().join(' or ')}` }
  return { path, message: error.message ?? 'a value that does not fit' }
}

const toStep = (step: string): string | number => {
  const word = step.replaceAll('~1', '/').replaceAll('~0', '~')
  return /^\d+$/.test(word) ? Number(word) : word
}
