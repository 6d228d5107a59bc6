import { detachString } from '../base/text.ts'
import type { ParameterNode, ParameterValue } from './nodes.ts'

/** SQL with its parameters: `$1` is the first of `values`. `text` never contains a value. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  /** Its purpose for logs and metrics: `find article`. Not sent to the database. */
  readonly name?: string
  /** All parameters are scalars, so PostgreSQL caches a generic plan for it without help. */
  readonly keepsPlan?: true
}

/** A statement whose values are bound later. Its text does not depend on them. */
export interface Template {
  readonly text: string
  /** `$1` is the first. */
  readonly parameters: readonly ParameterNode[]
  /** The table that it reads, if it reads one table once. */
  readonly table?: string
}

/**
 * A template to cache: its text in one piece of memory, and without the values that will be replaced, which may be long.
 */
export const toKeep = ({ text, parameters, ...rest }: Template): Template => ({
  ...rest,
  text: detachString(text),
  parameters: parameters.map(node => (node.place === null ? node : { ...node, value: '' })),
})

/** Binds the values. A parameter without a value keeps the one that it was printed with. */
export const bind = ({ text, parameters }: Template, values: readonly ParameterValue[]): Statement => ({
  text,
  values: parameters.map(node =>
    toSent(node, (node.place === null ? undefined : values[node.place]) ?? node.value),
  ),
})

function toSent({ type, pattern }: ParameterNode, value: ParameterValue): ParameterValue {
  if (pattern) return `${pattern.before}${String(value).replace(/[\\%_]/g, '\\$&')}${pattern.after}`
  return type === 'text' && (typeof value === 'number' || typeof value === 'boolean') ? String(value) : value
}

/** The text of a statement as a part of another one, which has `by` parameters before its own. Quoted texts and names stay. */
export const moveParameters = (text: string, by: number): string =>
  by === 0 ? text : text.replace(PARAMETERS, (found, place) => (place ? `$${Number(place) + by}` : found))

/** Backslashes in the constants of quoteText are doubled, so that each quote in them is doubled, too. */
const PARAMETERS = /'[^']*'|"[^"]*"|\$(\d+)/g
