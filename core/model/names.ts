import pluralize from 'pluralize'

/** The words of a name: `bigThing`, `big-thing` and `big_thing` have the same; digits are words of their own. */
const wordsOf = (name: string): readonly string[] => name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()

export const toPascalCase = (name: string): string => wordsOf(name).map(capitalised).join('')

export function toCamelCase(name: string): string {
  const [first = '', ...rest] = wordsOf(name)
  return first.toLowerCase() + rest.map(capitalised).join('')
}

/** `metaTitle` → `meta_title`, `HTMLParts` → `html_parts`; digits and underscores stay where they are. */
export const toSnakeCase = (name: string): string =>
  name
    .replace(/([A-Z])(?=[A-Z][a-z])/g, '$1_')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-.]/g, '_')
    .toLowerCase()

/** The English plural of a kebab-case key: of its last word. */
export function pluralOf(key: string): string {
  const last = key.lastIndexOf('-') + 1
  return key.slice(0, last) + pluralize(key.slice(last))
}

/** `article` → `Article`, `big-thing` → `Big thing`. */
export function titleOf(key: string): string {
  const text = key.replaceAll('-', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
