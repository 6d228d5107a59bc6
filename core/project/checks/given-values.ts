import { isRealDay } from '../calendar.ts'
import type { ProjectFinding } from '../faults.ts'
import { compilePattern } from '../pattern.ts'
import type { ScalarDeclaration } from '../settings/declarations.ts'
import type { Json, Settings } from '../settings/settings.ts'
import { isAbove } from './attribute-bounds.ts'
import { attributesWithPaths } from './declared-parts.ts'

/** `default` and `backfill` must be valid values of the attribute. */
export function* givenValues(settings: Settings): Generator<ProjectFinding> {
  for (const { attribute, path } of attributesWithPaths(settings)) {
    if (!isScalar(attribute)) continue
    for (const key of ['default', 'backfill'] as const) {
      const given = attribute[key]
      if (given === undefined || given === null) continue
      for (const reason of reasonsAgainst(given, attribute)) {
        yield { code: 'bad-value', message: `the \`${key}\` ${reason}`, path: [...path, key] }
      }
    }
  }
}

const isScalar = (attribute: { type: string }): attribute is ScalarDeclaration =>
  !['relation', 'media', 'component', 'dynamiczone'].includes(attribute.type)

function* reasonsAgainst(given: Json, attribute: ScalarDeclaration): Generator<string> {
  if (isAmount(attribute) && isCountable(given)) yield* reasonsAgainstAmount(given, attribute)
  else if (typeof given === 'string') yield* reasonsAgainstText(given, attribute)
}

const isAmount = ({ type }: ScalarDeclaration): boolean =>
  ['integer', 'biginteger', 'float', 'decimal'].includes(type)

const isCountable = (given: Json): given is number | string =>
  typeof given === 'number' || typeof given === 'string'

function* reasonsAgainstAmount(given: number | string, { min, max }: ScalarDeclaration): Generator<string> {
  if (min !== undefined && isAbove(min, given)) yield `is less than \`min\`: ${min}`
  if (max !== undefined && isAbove(given, max)) yield `is more than \`max\`: ${max}`
}

function* reasonsAgainstText(given: string, attribute: ScalarDeclaration): Generator<string> {
  const { type, minLength, maxLength, regex } = attribute
  if (minLength !== undefined && given.length < minLength) yield `is shorter than \`minLength\`: ${minLength}`
  if (maxLength !== undefined && given.length > maxLength) yield `is longer than \`maxLength\`: ${maxLength}`
  if (regex !== undefined && !matches(given, regex)) yield 'does not match `regex`'
  if (['date', 'datetime', 'timestamp'].includes(type) && !isRealDay(given))
    yield 'is a day that no calendar has'
}

/** An invalid regex is reported by core/model/check. */
function matches(given: string, regex: string): boolean {
  try {
    return compilePattern(regex).test(given)
  } catch (error) {
    if (error instanceof SyntaxError) return true
    throw error
  }
}
