import { toPascalCase } from '../../../core/model/names.ts'
import type { PluginSchema } from '../../../core/plugins/plugin-module.ts'
import { quote } from './types-schema.ts'

/** The schema of a plugin's configuration by its name; undefined if it has none. */
export type ConfigSchemas = ReadonlyMap<string, PluginSchema | undefined>

export interface ConfigTypes {
  /** `'has-role': HasRolePolicy.Config` */
  readonly entries: readonly string[]
  /** A namespace for each schema, so that names in different schemas do not collide. */
  readonly namespaces: readonly string[]
}

/** The TypeScript types of configurations, by json-schema-to-typescript. `kind` ends the names: `Policy`. */
export async function printConfigTypes(kind: string, schemas: ConfigSchemas): Promise<ConfigTypes> {
  const entries: string[] = []
  const namespaces: string[] = []
  const taken = new Set<string>()
  for (const [name, schema] of schemas) {
    const type = simpleType(schema)
    if (type !== null) {
      entries.push(`${quote(name)}: ${type}`)
      continue
    }
    const namespace = freeName(`${toPascalCase(name)}${kind}`, taken)
    entries.push(`${quote(name)}: ${namespace}.Config`)
    namespaces.push(`namespace ${namespace} {`, ...indented(await compileSchema(schema)), '}')
  }
  return { entries, namespaces }
}

/** The type of a schema that needs no declaration; null: it needs one. */
function simpleType(schema: unknown): string | null {
  if (schema === false) return 'never'
  return isMapping(schema) ? null : 'unknown'
}

function freeName(wanted: string, taken: Set<string>): string {
  const names = [wanted, ...Array.from({ length: taken.size + 1 }, (_, at) => `${wanted}${at + 2}`)]
  const name = names.find(each => !taken.has(each)) ?? wanted
  taken.add(name)
  return name
}

/** `Config` and the types that it refers to. Conditions that TypeScript cannot express are checked when the project is loaded. */
async function compileSchema(schema: unknown): Promise<string> {
  const { compile } = await import('json-schema-to-typescript')
  const { title: _, ...root } = asDraft7(schema) as Schema
  return compile(root, 'Config', {
    bannerComment: '',
    format: false,
    // Nothing is read from files or addresses that a schema names.
    $refOptions: { resolve: { external: false } },
  })
}

type Schema = Readonly<Record<string, unknown>>

/** The keywords of draft 2020-12 as those that the compiler knows. */
function asDraft7(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(asDraft7)
  if (!isMapping(schema)) return schema
  const { prefixItems, items, patternProperties, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, convertKeyword(key, value)]),
  )
  return {
    ...rest,
    ...(prefixItems === undefined
      ? items !== undefined && { items }
      : { items: prefixItems, additionalItems: items ?? true }),
    // An index signature would have to cover the types of the named properties.
    ...(patternProperties !== undefined &&
      (isMapping(rest.properties) ? { additionalProperties: true } : { patternProperties })),
  }
}

function convertKeyword(key: string, value: unknown): unknown {
  if (VALUES.has(key)) return value
  if (!SCHEMAS_BY_NAME.has(key) || !isMapping(value)) return asDraft7(value)
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, asDraft7(each)]))
}

const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])

/** Keywords with values instead of schemas. */
const VALUES: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required'])

const indented = (text: string): readonly string[] =>
  text
    .trim()
    .split('\n')
    .map(line => `  ${line.trimEnd()}`)

const isMapping = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
