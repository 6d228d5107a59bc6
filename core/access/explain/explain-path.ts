import { type Attribute, type ContentType, isLink } from '../../model/model.ts'
import { isRead } from '../actions.ts'
import type { Explanation } from './explain.ts'
import { explainField, explainInside, type FieldExplanation } from './explain-field.ts'

/** One step of the way to an attribute over relations and into components: `author`, then `author.email`. */
export interface FieldStep {
  readonly path: string
  readonly attribute: Attribute
}

/** Of the first step that may not be taken, else of the last. */
export interface PathExplanation extends FieldExplanation {
  /** The way to it. */
  readonly path: string
  /** `find` of the types that the way leads on to. */
  readonly over: readonly Explanation[]
}

/** Why the attribute at the end of a way may be read or written. `findOf`: as explainField has it. */
export function explainPath(
  explanation: Explanation,
  steps: readonly FieldStep[],
  findOf: (type: ContentType) => Explanation,
): PathExplanation {
  const over: Explanation[] = []
  let explain = (attribute: Attribute): FieldExplanation => explainField(explanation, attribute, findOf)
  for (const [index, { attribute, path }] of steps.entries()) {
    const told = explain(attribute)
    if (!told.allowed || index === steps.length - 1) return { ...told, path, over }
    if (isLink(attribute) && !isRead(explanation.action))
      return { ...told, allowed: false, reason: 'beyond', path, over }
    const { target } = told
    if (target) over.push(target)
    explain = target
      ? each => explainField(target, each, findOf)
      : each => explainInside(explanation, each, findOf)
  }
  throw new TypeError('a way of no steps')
}
