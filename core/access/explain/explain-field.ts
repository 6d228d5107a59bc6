import { type Attribute, type ContentType, isLink } from '../../model/model.ts'
import { type Action, isReadAction, permissionPartsOf } from '../actions.ts'
import { isPasswordAttribute } from '../restrict/visible.ts'
import type { Explanation } from './explain.ts'

/** Why one attribute may be read or written by an action, or may not. */
export type FieldReason =
  /** The permission covers it. */
  | 'covered'
  /** The action itself is not granted. */
  | 'action'
  /** Its `fields` leave the attribute out. */
  | 'not-covered'
  /** Read by no caller. */
  | 'private'
  | 'password'
  /** It leads to documents that may not be found. */
  | 'target'
  /** Written by the server alone: made by it, `writable: false`, or `set` by the permission. */
  | 'system'
  | 'not-writable'
  | 'set'
  /** A write of the document links what lies there, and changes nothing of it. */
  | 'beyond'

export interface FieldExplanation {
  readonly attribute: Attribute
  readonly allowed: boolean
  readonly reason: FieldReason
  /** `find` of what a relation leads to, where it does. */
  readonly target: Explanation | null
}

/** Actions that read or write attributes one by one; the others are about whole documents. */
export const hasFields = (action: Action): boolean => permissionPartsOf(action).fields

/** `findOf` explains `find` on what relations lead to, for the same role. */
export function explainField(
  explanation: Explanation,
  attribute: Attribute,
  findOf: (type: ContentType) => Explanation,
): FieldExplanation {
  const target = isRelationLike(attribute) ? findOf(attribute.target) : null
  const reason = reasonFor(explanation, attribute, target)
  return { attribute, allowed: reason === 'covered', reason, target }
}

/** As explainField, of what no permission names by itself: the attributes of components and of files. */
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

/** Files are shown to whoever may read the attribute (contract/rest.md 8). */
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

function unwrittenReason(attribute: Attribute, { terms }: Explanation): FieldReason {
  return refusalToWrite(attribute) ?? (Object.hasOwn(terms.set ?? {}, attribute.name) ? 'set' : 'not-covered')
}

/** What is read by nobody; null: a permission decides. */
function refusalToRead(attribute: Attribute): FieldReason | null {
  if (isPasswordAttribute(attribute)) return 'password'
  return attribute.private ? 'private' : null
}

/** What is written by nobody; null: a permission decides. */
function refusalToWrite({ system, writable }: Attribute): FieldReason | null {
  if (system) return 'system'
  return writable ? null : 'not-writable'
}

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
    if (isLink(attribute) && !isReadAction(explanation.action))
      return { ...told, allowed: false, reason: 'beyond', path, over }
    const { target } = told
    if (target) over.push(target)
    explain = target
      ? each => explainField(target, each, findOf)
      : each => explainInside(explanation, each, findOf)
  }
  throw new TypeError('a way of no steps')
}
