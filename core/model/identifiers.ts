import { createHash } from 'node:crypto'
import { toSnakeCase } from './names.ts'

/** In bytes. PostgreSQL truncates longer names silently. Names are ASCII, so bytes are characters. */
const MAX_IDENTIFIER = 63

/** A name within PostgreSQL's limit: a longer one is cut and ends in a hash of the whole name. */
export const identifier = (name: string): string =>
  name.length <= MAX_IDENTIFIER ? name : hashed(name, name)

/**
 * The name of an index or constraint, unique in the schema. Its parts are joined by two underscores. If a part contains
 * underscores that make this ambiguous, a hash of the parts is added.
 */
export function constraintName(...parts: readonly string[]): string {
  const name = parts.join('__')
  const ambiguous = parts.some(part => part.includes('__') || part.startsWith('_') || part.endsWith('_'))
  return ambiguous || name.length > MAX_IDENTIFIER ? hashed(name, parts.join('\0')) : name
}

export const linkTableName = (ownerTable: string, attribute: string): string =>
  identifier(`${ownerTable}_${toSnakeCase(attribute)}_links`)

function hashed(name: string, whole: string): string {
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, 10)
  return `${name.slice(0, MAX_IDENTIFIER - hash.length - 1)}_${hash}`
}
