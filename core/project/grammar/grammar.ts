import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { ValidateFunction } from 'ajv'
import { onceResolved } from '../../base/memo.ts'
import { type JsonSchema, readProjectSchema, readSchemaText } from './project-schema.ts'

/** The schema of project files and its validation function. */
export interface Grammar {
  readonly schema: JsonSchema
  readonly validate: ValidateFunction
}

/** Loads the grammar at the first call; later calls share it. */
export const openGrammar = onceResolved(async (): Promise<Grammar> => {
  const text = readSchemaText()
  const schema = readProjectSchema()
  return { schema, validate: printed(text) ?? (await compiled(schema)) }
})

/** Takes 250 ms. Used only in a checkout that has not been built. */
async function compiled(schema: JsonSchema): Promise<ValidateFunction> {
  const { compileGrammar } = await import('./compile-grammar.ts')
  return compileGrammar(schema)
}

/** The name contains a hash of the schema, so that a validator of another version is never used. */
export const printedFile = (text: string): string =>
  fileURLToPath(new URL(`grammar-${digest(text)}.cjs`, import.meta.url))

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** Loads the validator that the build generated; undefined if there is none. */
function printed(text: string): ValidateFunction | undefined {
  const file = printedFile(text)
  return existsSync(file) ? createRequire(import.meta.url)(file) : undefined
}
