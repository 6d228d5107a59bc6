import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGE_ROOT } from '../../base/product.ts'

/** The part of JSON Schema (draft 2020-12) that project.schema.json uses. */
export interface JsonSchema {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, JsonSchema>>
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly if?: JsonSchema
  readonly else?: JsonSchema
  readonly not?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly propertyNames?: JsonSchema
  readonly additionalProperties?: boolean | JsonSchema
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly pattern?: string
  /** What `pattern` expects, in words. Editors show it as well. */
  readonly patternErrorMessage?: string
  readonly [keyword: string]: unknown
}

const SCHEMA_FILE = 'project.schema.json'

/** Reads the schema from the root of the package; works from the sources and from `dist/`. */
export const readSchemaText = (): string => readFileSync(join(PACKAGE_ROOT, SCHEMA_FILE), 'utf8')

export const readProjectSchema = (): JsonSchema => JSON.parse(readSchemaText())
