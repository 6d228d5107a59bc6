import { detachString } from '../base/text.ts'
import type { ParameterNode, ParameterValue } from './nodes.ts'

/** SQL with its parameters: `$1` stands for the first of `values`. No value is ever part of `text`. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  /** What it is for, in observations: `find article`. Never sent to the database. */
  readonly name?: string
  /** Its parameters are single values: PostgreSQL keeps a plan for it by itself. */
  readonly keepsPlan?: true
}

/** A statement whose values are still to come: its text is the same whatever they are. */
export interface Template {
  readonly text: string
  /** `$1` stands for the first. */
  readonly parameters: readonly ParameterNode[]
  /** The one table that it looks at, where it does so at one place alone. */
  readonly table?: string
}

/**
 * As it is to be kept: in one piece, and without the values that it was printed with, where others are put in. They may
 * be long.
 */
export const toKeep = ({ text, parameters, ...rest }: Template): Template => ({
  ...rest,
  text: detachString(text),
  parameters: parameters.map(node => (node.place === null ? node : { ...node, value: '' })),
})

/** The statement with these values in their places; a value that is not given is the one it was printed with. */
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
