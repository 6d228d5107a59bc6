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
  /** A definition that only editors use. */
  readonly 'x-editor'?: true
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

/** The grammar: the schema without what only editors need. */
export const readProjectSchema = once((): JsonSchema => grammarOf(JSON.parse(readSchemaText())))

const SPELLED: Readonly<Record<string, string>> = {
  ...{ jwt: 'JWT', url: 'URL', urls: 'URLs', cors: 'CORS', rest: 'REST', graphql: 'GraphQL' },
  ...{ id: 'ID', ids: 'IDs', api: 'API', uid: 'UID' },
}

/** The title that editors show for a key: `rateLimit` becomes `Rate limit`. */
export function keyTitle(key: string): string {
  const words = key.replace(
    /([a-z0-9])([A-Z])(?=[a-z]|$)/g,
    (_, end, start) => `${end} ${start.toLowerCase()}`,
  )
  const title = words.replace(/[a-z0-9]+/g, word => SPELLED[word] ?? word)
  return title.charAt(0).toUpperCase() + title.slice(1)
}

/** Removes titles of keys, and the branches for `${NAME}`, which is replaced before a file is validated. */
export function grammarOf(schema: JsonSchema): JsonSchema {
  const removed = new Set(
    Object.entries(schema.$defs ?? {})
      .filter(([, each]) => each['x-editor'])
      .map(([name]) => `#/$defs/${name}`),
  )
  return reduce(schema, removed)
}

function reduce(schema: JsonSchema, removed: ReadonlySet<string>): JsonSchema {
  const { anyOf, properties, $defs, items, additionalProperties: others } = schema
  const reduced: JsonSchema = {
    ...schema,
    ...(properties && {
      properties: mapEntries(properties, (key, each) => untitled(key, reduce(each, removed))),
    }),
    ...($defs && {
      $defs: mapEntries($defs, (key, each) =>
        removed.has(`#/$defs/${key}`) ? undefined : reduce(each, removed),
      ),
    }),
    ...(items && { items: reduce(items, removed) }),
    ...(typeof others === 'object' && { additionalProperties: reduce(others, removed) }),
  }
  if (!anyOf) return reduced
  const { anyOf: _, ...own } = reduced
  const branches = anyOf.filter(({ $ref = '' }) => !removed.has($ref)).map(each => reduce(each, removed))
  const [only] = branches
  return only && branches.length === 1 ? { ...only, ...own } : { ...own, anyOf: branches }
}

function mapEntries(
  schemas: Readonly<Record<string, JsonSchema>>,
  change: (key: string, schema: JsonSchema) => JsonSchema | undefined,
): Readonly<Record<string, JsonSchema>> {
  const changed: Record<string, JsonSchema> = {}
  for (const [key, each] of Object.entries(schemas)) {
    const next = change(key, each)
    if (next) changed[key] = next
  }
  return changed
}

function untitled(key: string, { title, ...schema }: JsonSchema): JsonSchema {
  return title === undefined || title === keyTitle(key) ? schema : { title, ...schema }
}

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
