import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import { decideUnions } from './decide-unions.ts'
import { type JsonSchema, OWN_KEYWORDS } from './project-schema.ts'

const openAjv = (code: { readonly source: boolean }): Ajv2020 => {
  const terms = { allErrors: true, verbose: true, strictTypes: false, validateFormats: false }
  return new Ajv2020({ ...terms, code }).addVocabulary(OWN_KEYWORDS)
}

/** Compiles the schema to a validation function. */
export const compileGrammar = (schema: JsonSchema) => openAjv({ source: false }).compile(decideUnions(schema))

/** Compiles the schema to the source of a CommonJS module, at build time, so that a start does not have to. */
export function printGrammar(schema: JsonSchema): string {
  const ajv = openAjv({ source: true })
  return standalone.default(ajv, ajv.compile(decideUnions(schema)))
}
