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

/**
 * Compiles a JSON Schema of a plugin. Fails with the reason if the schema is invalid. A keyword that JSON Schema does not have would
 * check nothing, so it is invalid, unless it begins with `x-`.
 */
export function compileJsonSchema(schema: object): Result<CheckValue, string> {
  try {
    const validate = tryCompile(sharedAjv(), schema) ?? compile(openAjv(), schema)
    return ok(value => (validate(value) ? [] : (validate.errors ?? []).map(toMismatch)))
  } catch (error) {
    const keyword = unknownKeyword(error)
    if (keyword !== undefined)
      return failed(
        `unknown keyword \`${keyword}\`${didYouMean(keyword, Object.keys(sharedAjv().RULES.all))} (keywords of your own begin with \`x-\`)`,
      )
    return failed(error instanceof Error ? error.message : String(error))
  }
}

const unknownKeyword = (error: unknown): string | undefined =>
  error instanceof Error ? /unknown keyword: "([^"]*)"/.exec(error.message)?.[1] : undefined

const openAjv = (): Ajv2020 =>
  new Ajv2020({
    allErrors: true,
    verbose: true,
    strict: false,
    strictSchema: true,
    validateFormats: false,
    logger: false,
    // Compiling the meta-schema takes longer than compiling all schemas, which finds errors as well.
    validateSchema: false,
  })

const sharedAjv = once(openAjv)

/** null: the schema is invalid, or its `$id` was compiled before. */
function tryCompile(ajv: Ajv2020, schema: object): ValidateFunction | null {
  try {
    const validate = compile(ajv, schema)
    ajv.removeSchema(schema)
    return validate
  } catch {
    return null
  }
}

function compile(ajv: Ajv2020, schema: object): ValidateFunction {
  try {
    return ajv.compile(schema)
  } catch (error) {
    const keyword = unknownKeyword(error)
    if (!keyword?.startsWith('x-') || ajv.getKeyword(keyword)) throw error
    ajv.addVocabulary([keyword])
    return compile(ajv, schema)
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
