import { type Attribute, type ContentType, isLink } from '../../model/model.ts'
import { type Action, isReadAction, permissionPartsOf } from '../actions.ts'
import { isPasswordAttribute } from '../readable-attributes.ts'
import type { Explanation } from './explain.ts'

/** The reason why an action may or may not read or write one attribute. */
export type FieldReason =
  /** The permission covers it. */
  | 'covered'
  /** The action itself is not granted. */
  | 'action'
  /** The permission's `fields` do not include the attribute. */
  | 'not-covered'
  /** No caller may read it. */
  | 'private'
  | 'password'
  /** The caller may not `find` the documents that it links to. */
  | 'target'
  /** Only the server writes it: a system attribute, `writable: false`, or `set` by the permission. */
  | 'system'
  | 'not-writable'
  | 'set'
  /** It belongs to a linked document, which a write of this document does not change. */
  | 'beyond'

export interface FieldExplanation {
  readonly attribute: Attribute
  readonly allowed: boolean
  readonly reason: FieldReason
  /** The explanation of `find` on the target of a relation; null: not a relation. */
  readonly target: Explanation | null
}

/** True if the action reads or writes single attributes. Other actions concern whole documents. */
export const hasFields = (action: Action): boolean => permissionPartsOf(action).fields

/** `findOf` explains `find` on the target of a relation for the same role. */
export function explainField(
  explanation: Explanation,
  attribute: Attribute,
  findOf: (type: ContentType) => Explanation,
): FieldExplanation {
  const target = isRelationLike(attribute) ? findOf(attribute.target) : null
  const reason = reasonFor(explanation, attribute, target)
  return { attribute, allowed: reason === 'covered', reason, target }
}

/** Like explainField, for attributes of components and files, which no permission names. */
export function explainInside(
  explanation: Explanation,
  attribute: Attribute,
  findOf: (type: ContentType) => Explanation,
): FieldExplanation {
  const target = isRelationLike(attribute) ? findOf(attribute.target) : null
  const refusal = isReadAction(explanation.action) ? refusalToRead(attribute) : refusalToWrite(attribute)
  const reason = refusal ?? (target && !target.allowed ? 'target' : 'covered')
  return { attribute, allowed: reason === 'covered', reason, target }
}

/** Files are not in this list: reading the attribute is enough to see them (reference/rest.md#8-populate). */
const isRelationLike = (attribute: Attribute): attribute is Attribute & { target: ContentType } =>
  attribute.kind === 'relation' || attribute.kind === 'localizations'

function reasonFor(explanation: Explanation, attribute: Attribute, target: Explanation | null): FieldReason {
  if (!explanation.allowed) return 'action'
  const reads = isReadAction(explanation.action)
  const names = reads ? explanation.readable : explanation.writable
  if (!names?.includes(attribute.name))
    return reads ? unreadReason(attribute) : unwrittenReason(attribute, explanation)
  return target && !target.allowed ? 'target' : 'covered'
}

const unreadReason = (attribute: Attribute): FieldReason => refusalToRead(attribute) ?? 'not-covered'

function unwrittenReason(attribute: Attribute, { options }: Explanation): FieldReason {
  return (
    refusalToWrite(attribute) ?? (Object.hasOwn(options.set ?? {}, attribute.name) ? 'set' : 'not-covered')
  )
}

/** The reason why no caller may read the attribute; null: permissions decide. */
function refusalToRead(attribute: Attribute): FieldReason | null {
  if (isPasswordAttribute(attribute)) return 'password'
  return attribute.private ? 'private' : null
}

/** The reason why no caller may write the attribute; null: permissions decide. */
function refusalToWrite({ system, writable }: Attribute): FieldReason | null {
  if (system) return 'system'
  return writable ? null : 'not-writable'
}

/** One step of a path over relations and components: `author`, then `author.email`. */
export interface FieldStep {
  readonly path: string
  readonly attribute: Attribute
}

/** The explanation of the first denied step, or of the last step if all are allowed. */
export interface PathExplanation extends FieldExplanation {
  /** The dotted path to the attribute. */
  readonly path: string
  /** The explanations of `find` on the types along the path. */
  readonly over: readonly Explanation[]
}

/** Explains whether the attribute at the end of a path may be read or written. `findOf`: see explainField. */
export function explainPath(
  explanation: Explanation,
  steps: readonly FieldStep[],
  findOf: (type: ContentType) => Explanation,
): PathExplanation {
  const over: Explanation[] = []
  let explain = (attribute: Attribute): FieldExplanation => explainField(explanation, attribute, findOf)
  for (const [index, { attribute, path }] of steps.entries()) {
    const explained = explain(attribute)
    if (!explained.allowed || index === steps.length - 1) return { ...explained, path, over }
    if (isLink(attribute) && !isReadAction(explanation.action))
      return { ...explained, allowed: false, reason: 'beyond', path, over }
    const { target } = explained
    if (target) over.push(target)
    explain = target
      ? each => explainField(target, each, findOf)
      : each => explainInside(explanation, each, findOf)
  }
  throw new TypeError('a path has at least one step')
}
