import { didYouMean, notListed } from '../../base/nearest.ts'
import { isRecord } from '../../base/plain-data.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import type { Path } from '../../faults/diagnostic.ts'
import { attempt, type Fault } from '../../faults/fault.ts'
import type { Attribute, ContentType, Holder, Model, ScalarAttribute, ValueType } from '../../model/model.ts'
import type { PermissionOptions } from '../../project/settings/settings.ts'
import {
  isListEntryOperator,
  isOperator,
  OPERATOR_NAMES,
  type Operator,
  operatorTraits,
} from '../../query/operators.ts'
import { parseFilter } from '../../query/parse-filter.ts'
import { targetHolder } from '../../query/parse-place.ts'
import { isBooleanWord, parseValue } from '../../query/parse-value.ts'
import type { Filter } from '../../query/query.ts'
import { bindUser, CLAIMS, lacksValue, resolveUserPath, userPath, userPathsIn } from '../user-path.ts'
import type { Condition, UserValues } from './condition.ts'

type Where = NonNullable<PermissionOptions['where']>

/** An error in a condition. `path` leads to it inside the condition. */
export interface ConditionFault {
  readonly message: string
  readonly path: Path
  /** The error is the value, not its key. */
  readonly isValue?: true
}

/** Compiles a permission's `where`, which has the syntax of REST `filters`; fails with all its errors. */
export function compileCondition(
  where: Where,
  type: ContentType,
  model: Model,
): Result<Condition, ConditionFault> {
  const unfit = [...unfitValues(where, type)]
  if (unfit.length > 0) return failed(...unfit.map(each => ({ ...each, isValue: true as const })))
  const isPersonal = !userPathsIn(where).next().done
  const parsed = isPersonal ? parseSample(where, type, model) : attempt(() => parseFilter(where, type))
  if (!parsed.ok) return failed(...parsed.reasons.map(fault => toConditionFault(fault, where, type)))
  if (!isPersonal) return ok({ kind: 'fixed', filter: parsed.value })
  const isPrivate = [...userPathsIn(where)].some(path => isPrivateUserPath(path, model))
  return ok({ kind: 'personal', bind: user => bind(where, type, user), sample: parsed.value, isPrivate })
}

/** A value of a condition that its attribute cannot have. `path` leads to it inside the condition. */
interface UnfitValue {
  readonly message: string
  readonly path: Path
}

/**
 * The values of a condition that no document can have. A filter of a request may ask for them and finds nothing; in a
 * permission they are a mistake. Values of the caller (`$user.…`) and unknown keys are not looked at.
 */
function* unfitValues(where: unknown, holder: Holder, path: Path = []): Generator<UnfitValue> {
  if (Array.isArray(where))
    for (const [index, part] of where.entries()) yield* unfitValues(part, holder, [...path, index])
  if (!isRecord(where)) return
  for (const [key, value] of Object.entries(where)) {
    const at = [...path, key]
    const attribute = holder.attributes.get(key)
    if (attribute) yield* unfitIn(attribute, value, at)
    else if (isOperator(key)) yield* unfitFor(holder.attributes.get('id'), value, at, key)
    else if (key.startsWith('$')) yield* unfitValues(value, holder, at)
  }
}

/** A link is compared by the id of its target. */
function unfitIn(attribute: Attribute, value: unknown, at: Path): Iterable<UnfitValue> {
  const target = targetHolder(attribute)
  if (!target) return unfitFor(attribute, value, at, '$eq')
  return isRecord(value)
    ? unfitValues(value, target, at)
    : unfitFor(target.attributes.get('id'), value, at, '$eq')
}

function* unfitFor(
  attribute: Attribute | undefined,
  value: unknown,
  path: Path,
  operator: Operator,
): Generator<UnfitValue> {
  if (attribute?.kind !== 'scalar') return
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) yield* unfitFor(attribute, each, [...path, index], operator)
  } else if (isRecord(value)) {
    for (const [key, each] of Object.entries(value))
      if (isOperator(key) || key === '$not')
        yield* unfitFor(attribute, each, [...path, key], key === '$not' ? operator : key)
  } else if (value !== null && userPath(value) === undefined) {
    const message = refusalOf(attribute, operator, value)
    if (message !== undefined) yield { message, path }
  }
}

function refusalOf(attribute: ScalarAttribute, operator: Operator, value: unknown): string | undefined {
  const { name, type, values } = attribute
  const { arity, text, fold } = operatorTraits(operator)
  const refused = (expected: string) => `Invalid value for ${operator} of ${name}: expected ${expected}`
  if (arity === 'flag') return isBooleanWord(value) ? undefined : refused('true or false')
  if (values && WHOLE.has(operator)) return unknownValue(attribute, String(value), values, fold)
  if (text || isListEntryOperator(operator, type)) return undefined
  if (type === 'boolean') return isBooleanWord(value) ? undefined : refused('true or false')
  const parsed = parseValue(attribute, value)
  return parsed.ok ? undefined : refused(parsed.reasons[0]?.expected ?? 'another value')
}

/** The operators that compare with a whole value of an enumeration. */
const WHOLE: ReadonlySet<Operator> = new Set(['$eq', '$eqi', '$ne', '$nei', '$in', '$notIn'])

function unknownValue(
  { name }: ScalarAttribute,
  value: string,
  values: readonly string[],
  fold: boolean,
): string | undefined {
  const isSame = (one: string) => one === value || (fold && one.toLowerCase() === value.toLowerCase())
  return values.some(isSame) ? undefined : notListed(value, name, values)
}

/** True if the path leads to an attribute that is `private: true`. */
function isPrivateUserPath(path: readonly string[], { builtIn }: Model): boolean {
  const attribute = resolveUserPath(path, builtIn.user)
  return typeof attribute === 'object' && attribute?.private === true
}

/** The filter for one user; null: it is false, because a value is missing or does not fit the attribute's type. */
function bind(where: Where, type: ContentType, user: UserValues) {
  if (lacksValue(where, user)) return null
  const parsed = attempt(() => parseFilter(bindUser(where, user), type))
  return parsed.ok ? parsed.value : null
}

/** Parses the condition with sample values. The type of a claim is not declared, so all samples are tried for claims. */
function parseSample(where: Where, type: ContentType, model: Model): Result<Filter, Fault> {
  const parse = (claim: Sample) => attempt(() => parseFilter(withSamples(where, model, claim), type))
  const first = parse('text')
  if (first.ok || ![...userPathsIn(where)].some(([name]) => name === CLAIMS)) return first
  for (const claim of [...Object.values(SAMPLES), null]) {
    const parsed = parse(claim)
    if (parsed.ok) return parsed
  }
  return first
}

type Sample = string | number | boolean | null

/** Replaces each `$user.…` by a sample value of its type, so that a type mismatch is found when the project is loaded. */
function withSamples(value: unknown, model: Model, claim: Sample): unknown {
  const path = userPath(value)
  if (path) {
    const attribute = resolveUserPath(path, model.builtIn.user)
    if (attribute === null) return claim
    return typeof attribute === 'string' ? '' : sampleOf(attribute.type)
  }
  if (Array.isArray(value)) return value.map(part => withSamples(part, model, claim))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, withSamples(part, model, claim)]),
  )
}

const SAMPLES: { readonly [Type in ValueType]?: string | number | boolean } = {
  id: 1,
  integer: 1,
  biginteger: 1,
  float: 1,
  decimal: 1,
  boolean: true,
  date: '2000-01-01',
  time: '00:00:00',
  datetime: '2000-01-01T00:00:00.000Z',
  timestamp: '2000-01-01T00:00:00.000Z',
}

const sampleOf = (type: ValueType): string | number | boolean => SAMPLES[type] ?? 'text'

/** Adds the place of the key, and the nearest known name if the key is unknown. */
function toConditionFault({ message, details }: Fault, where: Where, type: ContentType): ConditionFault {
  const { key, path } = details
  if (typeof key !== 'string') return { message, path: [] }
  const place = pathOfKey(where, key, typeof path === 'string' ? path : null)
  if (details.expected !== undefined) return { message, path: place }
  const holder = holderAt(typeof path === 'string' ? path.split('.') : [], type)
  const known = key.startsWith('$')
    ? [...OPERATOR_NAMES, ...GROUPS]
    : [...holder.attributes.keys(), ...OPERATOR_NAMES]
  return { message: `${message}${didYouMean(key, known)}`, path: place }
}

const GROUPS = ['$and', '$or', '$not']

function holderAt(path: readonly string[], type: ContentType): Holder {
  let holder: Holder = type
  for (const name of path) {
    const attribute: Attribute | undefined = holder.attributes.get(name)
    const next: Holder | null = attribute ? targetHolder(attribute) : null
    if (!next) return holder
    holder = next
  }
  return holder
}

/**
 * The path to a key in a condition. `attributePath`: the dotted attribute path that a fault reports; the key is below it or is
 * its last name. Operators, groups and lists may be in between. Returns the path of the whole condition if the key is not found.
 */
function pathOfKey(where: unknown, key: string, attributePath: string | null): Path {
  const names = attributePath === null ? [] : attributePath.split('.')
  const parents = names.at(-1) === key ? names.slice(0, -1) : names
  // A value without an operator is compared with `$eq`, which is not in the file.
  const compared = key.startsWith('$') ? findKey(where, names.at(-1) ?? '', names.slice(0, -1)) : undefined
  return findKey(where, key, parents) ?? compared ?? findKey(where, key, null) ?? []
}

/** `parents`: the attributes that must be above the key; null: any. */
function findKey(value: unknown, key: string, parents: readonly string[] | null): Path | undefined {
  if (value === null || typeof value !== 'object') return undefined
  for (const [at, below] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(at) : at
    if (step === key && (parents === null || parents.length === 0)) return [step]
    const rest = parents?.[0] === step ? parents.slice(1) : parents
    const isPassed = typeof step === 'number' || step.startsWith('$') || parents === null || rest !== parents
    const found = isPassed ? findKey(below, key, rest) : undefined
    if (found) return [step, ...found]
  }
  return undefined
}
