import type { ErrorObject, ValidateFunction } from 'ajv'
import { nearest } from '../../base/nearest.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type { Finding } from '../faults.ts'
import { deleteAt, prune, setAt, valueAt } from '../yaml/value-at.ts'
import { locate, toValue, type YamlNode } from '../yaml/yaml-tree.ts'
import type { Grammar } from './grammar.ts'
import { toFinding } from './shape-sentences.ts'

/** A file held against the grammar. */
export interface Shape {
  readonly findings: readonly Finding[]
  /** Every place that does not fit, also those whose fault was told when the file was read. */
  readonly misfits: readonly Path[]
  /** The file's value with everything that does not fit the grammar taken out; undefined where nothing is left. */
  readonly fitting: unknown
}

/** Checks a tree against project.schema.json; texts from the environment become what the schema wants. */
export function checkShape(tree: YamlNode, { schema, validate }: Grammar): Shape {
  const value = toValue(tree)
  const errors = errorsAfterConversion(tree, value, validate)
  const told = errors.map(error => ({ error, path: pathOf(tree, error) }))
  const findings = told
    .filter(({ path }) => !isBroken(tree, path))
    .filter(({ error }) => !isMisspelt(error, errors))
    .map(({ error, path }) => toFinding(error, { path, tree, schema }))
  const misfits = [...told.map(({ error, path }) => [...path, ...keyMeant(error)]), ...brokenPaths(tree)]
  return { findings, misfits, fitting: fittingPart(value, validate) }
}

/** `if` and `propertyNames` only say that one of the others was found below them. */
const ECHOES = new Set(['if', 'propertyNames'])

function errorsOf(validate: ValidateFunction, value: unknown): readonly ErrorObject[] {
  validate(value)
  return (validate.errors ?? []).filter(error => !ECHOES.has(error.keyword))
}

/** Texts that came from variables are converted where the schema says so, until nothing is left to convert. */
function errorsAfterConversion(
  tree: YamlNode,
  value: unknown,
  validate: ValidateFunction,
): readonly ErrorObject[] {
  for (;;) {
    const errors = errorsOf(validate, value)
    const converted = errors.filter(error => error.keyword === 'type' && convertAt(tree, value, error))
    if (converted.length === 0) return errors
  }
}

function convertAt(tree: YamlNode, value: unknown, error: ErrorObject): boolean {
  const path = pathOf(tree, error)
  const { node, exact } = locate(tree, path)
  const said = valueAt(value, path)
  if (!exact || node.kind !== 'scalar' || node.variables.length === 0 || typeof said !== 'string')
    return false
  const wanted: readonly string[] = [error.params.type].flat()
  const converted = convertText(said, wanted)
  if (converted === undefined) return false
  setAt(value, path, converted)
  return true
}

function convertText(text: string, wanted: readonly string[]): number | boolean | null | undefined {
  if (wanted.includes('boolean') && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  if (wanted.includes('null') && text === '') return null
  if (wanted.includes('integer') && /^[+-]?\d{1,15}$/.test(text)) return Number(text)
  if (wanted.includes('number') && /^[+-]?\d{1,15}(\.\d+)?$/.test(text)) return Number(text)
  return undefined
}

/** A key is missing only because an unknown one beside it is not spelled like it: one fault, told by the unknown key. */
function isMisspelt({ keyword, params, instancePath }: ErrorObject, errors: readonly ErrorObject[]): boolean {
  if (keyword !== 'required') return false
  return errors.some(other => {
    const isBeside = other.keyword === 'additionalProperties' && other.instancePath === instancePath
    return (
      isBeside && nearest(String(other.params.additionalProperty), [params.missingProperty]) !== undefined
    )
  })
}

function isBroken(tree: YamlNode, path: Path): boolean {
  const { node, exact } = locate(tree, path)
  return exact && node.kind === 'scalar' && node.broken
}

/** The key that is missing, or the one that an unknown key was most likely meant to be. */
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

/** An instance path of ajv (a JSON pointer) as a path of ours: indexes of lists are numbers. */
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

/** More rounds than the grammar is deep: each round takes out at least one level of what does not fit. */
const MOST_ROUNDS = 30

function fittingPart(value: unknown, validate: ValidateFunction): unknown {
  const fitting = structuredClone(value)
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const errors = errorsOf(validate, fitting)
    if (errors.length === 0) return fitting
    if (errors.some(error => error.instancePath === '' && error.keyword === 'type')) return undefined
    for (const error of errors) takeOut(fitting, error)
  }
  return undefined
}

/** Takes out what one error complains of: the unknown key, the badly named entry, or the value itself. */
function takeOut(value: unknown, error: ErrorObject): void {
  const path = stepsOf(error)
  const { additionalProperty = error.propertyName, missingProperty } = error.params
  if (typeof additionalProperty === 'string') deleteAt(value, [...path, additionalProperty])
  else if (path.length === 0 && missingProperty === 'name') setAt(value, ['name'], 'unnamed')
  else prune(value, path)
}
