import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import { decideUnions } from './decide-unions.ts'
import type { JsonSchema } from './json-schema-types.ts'

const openAjv = (code: { readonly source: boolean }): Ajv2020 => {
  const terms = { allErrors: true, verbose: true, strictTypes: false, validateFormats: false }
  return new Ajv2020({ ...terms, code }).addVocabulary(['patternErrorMessage'])
}

/** The grammar as a function that checks a file's value. */
export const compileGrammar = (schema: JsonSchema) => openAjv({ source: false }).compile(decideUnions(schema))

/** The same as the text of a CommonJS module: a build makes it, so that no start has to. */
export function printGrammar(schema: JsonSchema): string {
  const ajv = openAjv({ source: true })
  return standalone.default(ajv, ajv.compile(decideUnions(schema)))
}
