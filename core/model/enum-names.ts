import type slugifyText from '@sindresorhus/slugify'
import { memoize, once } from '../base/memo.ts'
import { requirePackage } from '../base/package-file.ts'

/**
 * The GraphQL names of an enumeration's values, name → value, in the order of the values. They are derived as Strapi
 * does, transliterated: `two words` → `two_words`, `été` → `ete`, `бензин` → `benzin` (reference/graphql.md#1-names).
 * Strapi loses values without a valid name or with the name of another value; here a digit at the start gets `_` before
 * it, and the later of two equal names a number: `C`, `C_2`.
 */
export const graphqlEnumValues = memoize((values: readonly string[]): ReadonlyMap<string, string> => {
  const valuesByName = new Map<string, string>()
  const reserved = new Set(values.filter(isUnchanged))
  for (const value of values) {
    const name = isUnchanged(value) ? value : unusedName(validName(value), reserved)
    reserved.add(name)
    valuesByName.set(name, value)
  }
  return valuesByName
})

/** GraphQL has no other names for `true`, `false` and `null`. */
const KEYWORDS: ReadonlySet<string> = new Set(['true', 'false', 'null'])

/** Most values are names that Strapi leaves as they are. */
const isUnchanged = (value: string): boolean =>
  /^[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*$/.test(value) && !KEYWORDS.has(value)

function validName(value: string): string {
  const name = slugify()(value.replace(/['’]/g, ' '), { decamelize: false, lowercase: false, separator: '_' })
  if (name === '') return `u${Buffer.from(value).toString('hex')}`
  if (/^[0-9]/.test(name)) return `_${name}`
  return KEYWORDS.has(name) ? `${name}_` : name
}

function unusedName(name: string, used: ReadonlySet<string>): string {
  if (!used.has(name)) return name
  let number = 2
  while (used.has(`${name}_${number}`)) number++
  return `${name}_${number}`
}

/** The library with which Strapi makes names and uids of texts. */
export const slugify = once(
  () => requirePackage<{ readonly default: typeof slugifyText }>('@sindresorhus/slugify').default,
)
