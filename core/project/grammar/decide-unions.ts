import { type JsonSchema, resolveRef, typeTags } from './project-schema.ts'

/**
 * Rewrites every `anyOf` of the schema as a decision: the kind of the value (text, list, mapping …), then the mapping's
 * `type`, selects one branch, and only that branch is validated. So an error is reported once, for the branch that the
 * writer meant, instead of once per branch.
 */
export function decideUnions(schema: JsonSchema, root: JsonSchema = schema): JsonSchema {
  const rewritten = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, decideWithin(keyword, value, root)]),
  )
  const { anyOf: _, ...others } = rewritten
  return schema.anyOf ? { ...others, ...decision(schema.anyOf, root) } : rewritten
}

const OF_SCHEMAS = new Set(['properties', '$defs'])
const A_SCHEMA = new Set(['items', 'additionalProperties', 'propertyNames'])

function decideWithin(keyword: string, value: unknown, root: JsonSchema): unknown {
  if (keyword === 'anyOf' || value === null || typeof value !== 'object') return value
  if (A_SCHEMA.has(keyword)) return decideUnions(asSchema(value), root)
  if (!OF_SCHEMAS.has(keyword)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, decideUnions(each, root)]))
}

/** Safe: a test validates the schema against its meta-schema. */
const asSchema = (value: object): JsonSchema => value as JsonSchema

interface Branch {
  readonly type: string
  /** The values of `type` that select this branch; empty if its kind alone decides. */
  readonly tags: readonly unknown[]
  readonly schema: JsonSchema
  readonly said: string | undefined
}

function decision(branches: readonly JsonSchema[], root: JsonSchema): JsonSchema {
  const all = branches.map(branch => toBranch(branch, root))
  const objects = all.filter(branch => branch.type === 'object')
  const tagged = objects.length > 1 ? [knownTag(objects)] : []
  return {
    type: Array.from(new Set(all.map(branch => branch.type))),
    patternErrorMessage: Array.from(new Set(all.map(branch => branch.said ?? wordFor(branch.type)))).join(
      ', or ',
    ),
    allOf: [
      ...tagged,
      ...all.map(branch => when(guardOf(branch, objects.length > 1), decideUnions(branch.schema, root))),
    ],
  }
}

function toBranch(schema: JsonSchema, root: JsonSchema): Branch {
  const meant = resolveRef(schema, root)
  return {
    type: typeof meant.type === 'string' ? meant.type : '',
    tags: typeTags(meant),
    schema,
    said: meant.patternErrorMessage ?? (meant.const === undefined ? undefined : JSON.stringify(meant.const)),
  }
}

/** Uses `else`, because an object with a key `then` would be treated as a promise. */
const when = (guard: JsonSchema, schema: JsonSchema): JsonSchema => ({ if: { not: guard }, else: schema })

function guardOf(branch: Branch, isTagged: boolean): JsonSchema {
  if (branch.type !== 'object' || !isTagged) return { type: branch.type }
  return { type: 'object', required: ['type'], properties: { type: { enum: branch.tags } } }
}

const knownTag = (objects: readonly Branch[]): JsonSchema =>
  when(
    { type: 'object' },
    {
      required: ['type'],
      properties: { type: { type: 'string', enum: objects.flatMap(branch => branch.tags) } },
    },
  )

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
