import { isRealDay } from '../../base/text.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type { ProjectFinding } from '../faults.ts'
import { compilePattern } from '../pattern.ts'
import type { AttributeDeclaration, ScalarDeclaration } from '../settings/declarations.ts'
import type { Json, Settings } from '../settings/settings.ts'

const PAIRS = [
  ['min', 'max'],
  ['minLength', 'maxLength'],
] as const

/** Lower bounds must not exceed upper ones. Components have bounds only if they are repeatable. */
export function* attributeBounds(settings: Settings): Generator<ProjectFinding> {
  for (const declared of attributesWithPaths(settings)) {
    yield* crossedBounds(declared)
    yield* boundsOfOne(declared)
  }
}

type Bounds = { readonly type: string } & Partial<
  Record<'min' | 'max' | 'minLength' | 'maxLength', number | string>
>

function* crossedBounds({ attribute, path }: AttributeAtPath): Generator<ProjectFinding> {
  const bounds: Bounds = attribute
  for (const [low, high] of PAIRS) {
    const [least, most] = [bounds[low], bounds[high]]
    if (least === undefined || most === undefined || !isAbove(least, most)) continue
    const message = `\`${low}\` is ${least}, which is more than \`${high}\`: ${most}`
    yield {
      code: 'conflict',
      message,
      path: [...path, low],
      related: { path: [...path, high], message: `\`${high}\` is here` },
    }
  }
}

/** Compares bounds. Texts are integers beyond the precision of a double. */
export function isAbove(one: number | string, other: number | string): boolean {
  return typeof one === 'number' && typeof other === 'number' ? one > other : BigInt(one) > BigInt(other)
}

function* boundsOfOne({ attribute, path }: AttributeAtPath): Generator<ProjectFinding> {
  if (attribute.type !== 'component' || attribute.repeatable) return
  for (const bound of ['min', 'max'] as const) {
    if (attribute[bound] === undefined) continue
    const message = `\`${bound}\` counts the components of a list: it needs \`repeatable: true\``
    yield { code: 'conflict', message, path: [...path, bound], atKey: true }
  }
}

/** `default` and `backfill` must be valid values of the attribute. */
export function* givenValues(settings: Settings): Generator<ProjectFinding> {
  for (const { attribute, path } of attributesWithPaths(settings)) {
    if (!isScalar(attribute)) continue
    for (const key of ['default', 'backfill'] as const) {
      const input = attribute[key]
      if (input === undefined || input === null) continue
      for (const reason of reasonsAgainst(input, attribute)) {
        yield { code: 'bad-value', message: `the \`${key}\` ${reason}`, path: [...path, key] }
      }
    }
  }
}

const isScalar = (attribute: { type: string }): attribute is ScalarDeclaration =>
  !['relation', 'media', 'component', 'dynamiczone'].includes(attribute.type)

function* reasonsAgainst(input: Json, attribute: ScalarDeclaration): Generator<string> {
  if (isAmount(attribute) && isCountable(input)) yield* reasonsAgainstAmount(input, attribute)
  else if (typeof input === 'string') yield* reasonsAgainstText(input, attribute)
}

const isAmount = ({ type }: ScalarDeclaration): boolean =>
  ['integer', 'biginteger', 'float', 'decimal'].includes(type)

const isCountable = (input: Json): input is number | string =>
  typeof input === 'number' || typeof input === 'string'

function* reasonsAgainstAmount(input: number | string, { min, max }: ScalarDeclaration): Generator<string> {
  if (min !== undefined && isAbove(min, input)) yield `is less than \`min\`: ${min}`
  if (max !== undefined && isAbove(input, max)) yield `is more than \`max\`: ${max}`
}

function* reasonsAgainstText(input: string, attribute: ScalarDeclaration): Generator<string> {
  const { type, minLength, maxLength, regex } = attribute
  if (minLength !== undefined && input.length < minLength) yield `is shorter than \`minLength\`: ${minLength}`
  if (maxLength !== undefined && input.length > maxLength) yield `is longer than \`maxLength\`: ${maxLength}`
  if (regex !== undefined && !matches(input, regex)) yield 'does not match `regex`'
  if (['date', 'datetime', 'timestamp'].includes(type) && !isRealDay(input))
    yield 'is a date that does not exist'
}

/** An invalid regex is reported by core/model/check. */
function matches(input: string, regex: string): boolean {
  try {
    return compilePattern(regex).test(input)
  } catch (error) {
    if (error instanceof SyntaxError) return true
    throw error
  }
}

/** An attribute with the path of its declaration. */
interface AttributeAtPath {
  readonly attribute: AttributeDeclaration
  readonly path: Path
}

/** All attributes of components, content-types and the user. */
function* attributesWithPaths({ components, contentTypes, user }: Settings): Generator<AttributeAtPath> {
  for (const [name, { attributes }] of Object.entries(components))
    yield* within(['components', name], attributes)
  for (const [name, { attributes }] of Object.entries(contentTypes))
    yield* within(['contentTypes', name], attributes)
  yield* within(['user'], user.attributes)
}

function* within(
  holder: Path,
  attributes: Readonly<Record<string, AttributeDeclaration>>,
): Generator<AttributeAtPath> {
  for (const [name, attribute] of Object.entries(attributes)) {
    yield { attribute, path: [...holder, 'attributes', name] }
  }
}
