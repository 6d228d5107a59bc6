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

/** Renumbers the parameters of a statement (`$1` becomes `$3` with `by` 2) that becomes a part of another one. */
export const moveParameters = (text: string, by: number): string =>
  by === 0 ? text : text.replace(PARAMETERS, (found, place) => (place ? `$${Number(place) + by}` : found))

/** Quoted texts and names are matched first, and stay. quoteText doubles quotes, also behind a backslash, so a text ends at its next single quote. */
const PARAMETERS = /'[^']*'|"[^"]*"|\$(\d+)/g
