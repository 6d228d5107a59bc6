import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { once } from '../../base/memo.ts'
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
  /** The value that `pattern` expects, for messages. Editors show it as well. */
  readonly patternErrorMessage?: string
  /** A duration or a size, and the unit of a plain number. Settings have milliseconds or bytes. */
  readonly 'x-unit'?: 'milliseconds' | 'seconds' | 'bytes'
  readonly 'x-short'?: ShortForm
  /** Settings always have this key: its default depends on other keys (settings/derive-defaults.ts). */
  readonly 'x-derived'?: true
  /** The value is never printed. */
  readonly 'x-secret'?: true
  readonly [keyword: string]: unknown
}

/**
 * The short form of a value. `key`: a plain value is short for a mapping with this key; `list`: for a list with one
 * item; `names`: a name or a list of names is short for a mapping of each name to true.
 */
export type ShortForm = { readonly key: string } | 'list' | 'names'

/** Keywords that JSON Schema does not define. */
export const OWN_KEYWORDS = ['patternErrorMessage', 'x-unit', 'x-short', 'x-derived', 'x-secret']

const SCHEMA_FILE = 'project.schema.json'

/** Reads the schema from the root of the package; works from the sources and from `dist/`. */
export const readSchemaText = (): string => readFileSync(join(PACKAGE_ROOT, SCHEMA_FILE), 'utf8')

export const readProjectSchema = once((): JsonSchema => JSON.parse(readSchemaText()))

/** Resolves `$ref`. Keywords next to it override those of the definition. */
export function resolveRef({ $ref, ...own }: JsonSchema, root: JsonSchema): JsonSchema {
  const target = $ref && root.$defs?.[$ref.replace('#/$defs/', '')]
  return target ? { ...target, ...own } : own
}

/** The values of `type` that select one branch of a union; empty if the branch does not depend on them. */
export function typeTags({ properties }: JsonSchema): readonly unknown[] {
  const tag = properties?.type
  return tag?.enum ?? (tag?.const === undefined ? [] : [tag.const])
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  null: 'null',
}

/** The description of a JSON type: `a whole number`. */
export const wordFor = (type: string): string => WORDS[type] ?? type
