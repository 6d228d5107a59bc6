import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../../base/plain-data.ts'
import { type JsonSchema, resolveRef, type ShortForm, typeTags } from '../grammar/project-schema.ts'

/**
 * Fills in the defaults of a schema, expands short forms, and converts durations to milliseconds and sizes to bytes.
 * The value must match the schema. Values that the schema does not describe are returned unchanged.
 */
export function fillDefaults(value: unknown, schema: JsonSchema, root: JsonSchema = schema): unknown {
  const meant = resolveRef(schema, root)
  const full = expand(value === undefined ? defaultOf(meant) : value, meant['x-short'])
  const branch = branchFor(full, meant, root)
  if (Array.isArray(full)) return full.map(item => fillDefaults(item, branch.items ?? {}, root))
  return isRecord(full) ? fillMapping(full, branch, root) : convert(full, meant)
}

/** True if a key of the project file has the same effect as its default. */
export function isDefault(value: unknown, path: readonly string[], root: JsonSchema): boolean {
  const schema = path.reduce<JsonSchema>((at, key) => resolveRef(at.properties?.[key] ?? {}, root), root)
  return isDeepStrictEqual(fillDefaults(value, schema, root), fillDefaults(undefined, schema, root))
}

/** A mapping of known keys is always there, because its keys may have defaults. */
const defaultOf = ({ default: fallback, properties }: JsonSchema): unknown =>
  fallback === undefined && properties ? {} : structuredClone(fallback)

function expand(value: unknown, form: ShortForm | undefined): unknown {
  if (form === undefined || value === undefined || isRecord(value)) return value
  if (form === 'list') return Array.isArray(value) ? value : [value]
  if (form === 'names') return Object.fromEntries([value].flat().map(name => [name, true]))
  return { [form.key]: value }
}

/** The branch of a union that a value matches; for a mapping its `type` decides. */
function branchFor(value: unknown, schema: JsonSchema, root: JsonSchema): JsonSchema {
  if (!schema.anyOf) return schema
  const branches = schema.anyOf.map(branch => resolveRef(branch, root))
  if (!isRecord(value)) return branches.find(({ type }) => type === 'array' && Array.isArray(value)) ?? {}
  const mappings = branches.filter(({ type }) => type === 'object')
  return mappings.find(branch => typeTags(branch).includes(value.type)) ?? mappings[0] ?? {}
}

type Mapping = Readonly<Record<string, unknown>>

function fillMapping(value: Mapping, schema: JsonSchema, root: JsonSchema): Mapping {
  const { properties = {}, additionalProperties } = schema
  const others = typeof additionalProperties === 'object' ? additionalProperties : {}
  const unset = Object.keys(properties).filter(key => !Object.hasOwn(value, key))
  const entries = [...unset, ...Object.keys(value)].map((key): [string, unknown] => [
    key,
    fillDefaults(own(value, key), own(properties, key) ?? others, root),
  ])
  return Object.fromEntries(entries.filter(([, filled]) => filled !== undefined))
}

/** Names in the file may be those of inherited properties, such as `constructor`. */
const own = <Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

/** An empty text, as an unset variable yields it, is null where null is allowed. */
function convert(value: unknown, { type, 'x-unit': unit }: JsonSchema): unknown {
  if (value === '' && type?.includes('null')) return null
  if (unit === undefined || (typeof value !== 'string' && typeof value !== 'number')) return value
  return unit === 'bytes' ? toBytes(value) : toMilliseconds(value, unit === 'seconds' ? 1000 : 1)
}

const MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
const BYTES: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }

/** Parses a duration such as `15s` to milliseconds. `bare`: the unit of a plain number, in milliseconds. */
export const toMilliseconds = (value: string | number, factor = 1): number =>
  amount(value, MILLISECONDS, factor)

/** Parses a size such as `1mb` (1024-based) to bytes. A plain number is in bytes. */
const toBytes = (value: string | number): number => amount(value, BYTES, 1)

function amount(value: string | number, units: Readonly<Record<string, number>>, factor: number): number {
  const [, number, unit = ''] = /^([\d.]+)\s*([a-z]*)$/i.exec(String(value)) ?? []
  return Math.round(Number(number) * (units[unit.toLowerCase()] ?? factor))
}
