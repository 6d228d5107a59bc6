import { notListed } from '../../base/nearest.ts'
import { isRecord } from '../../base/plain-data.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type { Attribute, Holder, ScalarAttribute } from '../../model/model.ts'
import { isListEntryOperator, isOperator, type Operator, operatorTraits } from '../../query/operators.ts'
import { targetHolder } from '../../query/parse-place.ts'
import { isBooleanWord, parseValue } from '../../query/parse-value.ts'
import { userPath } from '../user-path.ts'

/** A value of a condition that its attribute cannot have. `path` leads to it inside the condition. */
interface UnfitValue {
  readonly message: string
  readonly path: Path
}

/**
 * The values of a condition that no document can have. A filter of a request may ask for them and finds nothing; in a
 * permission they are a mistake. Values of the caller (`$user.…`) and unknown keys are not looked at.
 */
export function* unfitValues(where: unknown, holder: Holder, path: Path = []): Generator<UnfitValue> {
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
