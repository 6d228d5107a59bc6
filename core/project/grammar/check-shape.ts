import type { ErrorObject, ValidateFunction } from 'ajv'
import { nearest } from '../../base/nearest.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type { ProjectFinding } from '../faults.ts'
import { locate, toValue, type YamlNode } from '../yaml/yaml-tree.ts'
import type { Grammar } from './grammar.ts'
import { toFinding } from './shape-sentences.ts'

/** The result of validating a file against the schema. */
export interface ShapeResult {
  readonly findings: readonly ProjectFinding[]
  /** Every path that does not match, including those whose fault was reported when the file was read. */
  readonly misfits: readonly Path[]
  /** The file's value without the parts that do not match; undefined if nothing is left. */
  readonly fitting: unknown
}

/** Validates a tree against project.schema.json. Texts from environment variables are converted to the expected type. */
export function checkShape(tree: YamlNode, { schema, validate }: Grammar): ShapeResult {
  const value = toValue(tree)
  const errors = errorsAfterConversion(tree, value, validate)
  const located = errors.map(error => ({ error, path: pathOf(tree, error) }))
  const findings = located
    .filter(({ path }) => !isBroken(tree, path))
    .filter(({ error }) => !isMisspelt(error, errors) && !hasWords(error, errors))
    .map(({ error, path }) => toFinding(error, { path, tree, schema }))
  const misfits = [...located.map(({ error, path }) => [...path, ...keyMeant(error)]), ...brokenPaths(tree)]
  return { findings, misfits, fitting: fittingPart(value, validate) }
}

/** Keywords that only repeat an error below them. */
const REDUNDANT_KEYWORDS = new Set(['if', 'propertyNames'])

function errorsOf(validate: ValidateFunction, value: unknown): readonly ErrorObject[] {
  validate(value)
  return (validate.errors ?? []).filter(error => !REDUNDANT_KEYWORDS.has(error.keyword))
}

/** Converts texts from variables to the expected types and validates again, until nothing can be converted. */
function errorsAfterConversion(
  tree: YamlNode,
  value: unknown,
  validate: ValidateFunction,
): readonly ErrorObject[] {
  for (;;) {
    const errors = errorsOf(validate, value)
    const converted = errors.filter(error => convertAt(tree, value, error))
    if (converted.length === 0) return errors
  }
}

function convertAt(tree: YamlNode, value: unknown, error: ErrorObject): boolean {
  const path = pathOf(tree, error)
  const { node, exact } = locate(tree, path)
  const said = valueAt(value, path)
  if (!exact || node.kind !== 'scalar' || node.variables.length === 0 || typeof said !== 'string')
    return false
  const converted = convertText(said, wantedTypes(error))
  if (converted === undefined) return false
  setAt(value, path, converted)
  return true
}

/** The types that a value of another type should have had, or those of the listed values that it should have been. */
function wantedTypes({ keyword, params }: ErrorObject): readonly string[] {
  if (keyword === 'type') return [params.type].flat()
  return keyword === 'enum' ? params.allowedValues.map((value: unknown) => typeof value) : []
}

function convertText(text: string, wanted: readonly string[]): number | boolean | null | undefined {
  if (wanted.includes('boolean') && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  if (wanted.includes('null') && text === '') return null
  if (wanted.includes('integer') && /^[+-]?\d{1,15}$/.test(text)) return Number(text)
  if (wanted.includes('number') && /^[+-]?\d{1,15}(\.\d+)?$/.test(text)) return Number(text)
  return undefined
}

/** True if a missing key is a misspelt unknown key of the same mapping. Then only the unknown key is reported. */
function isMisspelt({ keyword, params, instancePath }: ErrorObject, errors: readonly ErrorObject[]): boolean {
  if (keyword !== 'required') return false
  return errors.some(other => {
    const isSibling = other.keyword === 'additionalProperties' && other.instancePath === instancePath
    return (
      isSibling && nearest(String(other.params.additionalProperty), [params.missingProperty]) !== undefined
    )
  })
}

/** True for the type of a value of which an error names the allowed words. Only the words are reported. */
const hasWords = ({ keyword, instancePath }: ErrorObject, errors: readonly ErrorObject[]): boolean =>
  keyword === 'type' && errors.some(other => other.keyword === 'enum' && other.instancePath === instancePath)

function isBroken(tree: YamlNode, path: Path): boolean {
  const { node, exact } = locate(tree, path)
  return exact && node.kind === 'scalar' && node.broken
}

/** The missing key, or the key that an unknown one was most likely meant to be. */
function keyMeant({ keyword, params, parentSchema, propertyName }: ErrorObject): Path {
  if (propertyName !== undefined) return [propertyName]
  if (keyword === 'required') return [params.missingProperty]
  if (keyword !== 'additionalProperties') return []
  const key = String(params.additionalProperty)
  return [nearest(key, Object.keys(parentSchema?.properties ?? {})) ?? key]
}

function brokenPaths(node: YamlNode, path: Path = []): readonly Path[] {
  if (node.kind === 'scalar') return node.broken ? [path] : []
  if (node.kind === 'list') return node.items.flatMap((item, index) => brokenPaths(item, [...path, index]))
  return Array.from(node.entries).flatMap(([key, { value }]) => brokenPaths(value, [...path, key]))
}

/** Converts ajv's instance path (a JSON pointer) to a path, in which list indexes are numbers. */
function pathOf(tree: YamlNode, error: ErrorObject): Path {
  const path: (string | number)[] = []
  for (const step of stepsOf(error)) {
    path.push(locate(tree, path).node.kind === 'list' ? Number(step) : step)
  }
  return path
}

const stepsOf = (error: ErrorObject): readonly string[] =>
  error.instancePath
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))

/** Larger than the depth of the schema: each round removes at least one level of mismatches. */
const MAX_ROUNDS = 30

function fittingPart(value: unknown, validate: ValidateFunction): unknown {
  const fitting = structuredClone(value)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const errors = errorsOf(validate, fitting)
    if (errors.length === 0) return fitting
    if (errors.some(error => error.instancePath === '' && error.keyword === 'type')) return undefined
    for (const error of errors) removeCause(fitting, error)
  }
  return undefined
}

/** Removes the cause of an error: the unknown key, the entry with an invalid name, or the value itself. */
function removeCause(value: unknown, error: ErrorObject): void {
  const path = stepsOf(error)
  const { additionalProperty = error.propertyName, missingProperty } = error.params
  if (typeof additionalProperty === 'string') deleteAt(value, [...path, additionalProperty])
  else if (path.length === 0 && missingProperty === 'name') setAt(value, ['name'], 'unnamed')
  else prune(value, path)
}

type Container = Record<string, unknown> | unknown[]

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null

const member = (container: Container, key: string | number): unknown =>
  Array.isArray(container)
    ? container[Number(key)]
    : Object.hasOwn(container, key)
      ? container[key]
      : undefined

/** The value at a path of a plain value, or undefined. */
const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((at, key) => (isContainer(at) ? member(at, key) : undefined), value)

function setAt(value: unknown, path: Path, replacement: unknown): void {
  const parent = valueAt(value, path.slice(0, -1))
  const key = path.at(-1)
  if (!isContainer(parent) || key === undefined) return
  if (Array.isArray(parent)) parent[Number(key)] = replacement
  else parent[key] = replacement
}

function deleteAt(value: unknown, path: Path): void {
  const parent = valueAt(value, path.slice(0, -1))
  const key = path.at(-1)
  if (!isContainer(parent) || key === undefined) return
  if (Array.isArray(parent)) deleteAt(value, path.slice(0, -1))
  else delete parent[key]
}

/** Sections whose entries are referenced by name. An invalid entry is emptied first, so that references to it stay valid. */
const NAMED = new Set<string | number | undefined>(['contentTypes', 'components', 'roles'])

/** Removes a value: a named entry is emptied before it is deleted; an invalid list item removes the whole list. */
function prune(value: unknown, path: Path): void {
  const found = valueAt(value, path)
  const isEmpty = isContainer(found) && Object.keys(found).length === 0
  if (path.length === 2 && NAMED.has(path[0]) && !isEmpty) setAt(value, path, {})
  else deleteAt(value, path)
}
