import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import { type JsonSchema, OWN_KEYWORDS, resolveRef, typeTags, wordFor } from './project-schema.ts'

const openAjv = (code: { readonly source: boolean }): Ajv2020 => {
  const options = { allErrors: true, verbose: true, strictTypes: false, validateFormats: false }
  return new Ajv2020({ ...options, code }).addVocabulary(OWN_KEYWORDS)
}

/** Compiles the schema to a validation function. */
export const compileGrammar = (schema: JsonSchema) => openAjv({ source: false }).compile(decideUnions(schema))

/** Compiles the schema to the source of a CommonJS module, at build time, so that a start does not have to. */
export function printGrammar(schema: JsonSchema): string {
  const ajv = openAjv({ source: true })
  return standalone.default(ajv, ajv.compile(decideUnions(schema)))
}

/**
 * Rewrites every `anyOf` of the schema as a decision: the kind of the value (text, list, mapping …), then the mapping's
 * `type`, selects one branch, and only that branch is validated. So an error is reported once, for the branch that the
 * writer meant, instead of once per branch.
 */
function decideUnions(schema: JsonSchema, root: JsonSchema = schema): JsonSchema {
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
