import type { Attribute, ContentType } from '../../model/model.ts'
import { type Action, isRead, termsOf } from '../actions.ts'
import { isPassword } from '../restrict/visible.ts'
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
export const hasFields = (action: Action): boolean => termsOf(action).fields

/** `findOf` explains `find` on what relations lead to, for the same role. */
export function explainField(
  explanation: Explanation,
  attribute: Attribute,
  findOf: (type: ContentType) => Explanation,
): FieldExplanation {
  const target = leadsOn(attribute) ? findOf(attribute.target) : null
  const reason = reasonFor(explanation, attribute, target)
  return { attribute, allowed: reason === 'covered', reason, target }
}

/** As explainField, of what no permission names by itself: the attributes of components and of files. */
export function explainInside(
  explanation: Explanation,
  attribute: Attribute,
  findOf: (type: ContentType) => Explanation,
): FieldExplanation {
  const target = leadsOn(attribute) ? findOf(attribute.target) : null
  const refusal = isRead(explanation.action) ? refusalToRead(attribute) : refusalToWrite(attribute)
  const reason = refusal ?? (target && !target.allowed ? 'target' : 'covered')
  return { attribute, allowed: reason === 'covered', reason, target }
}

/** Files are shown to whoever may read the attribute (contract/rest.md 8). */
const leadsOn = (attribute: Attribute): attribute is Attribute & { target: ContentType } =>
  attribute.kind === 'relation' || attribute.kind === 'localizations'

function reasonFor(explanation: Explanation, attribute: Attribute, target: Explanation | null): FieldReason {
  if (!explanation.allowed) return 'action'
  const reads = isRead(explanation.action)
  const names = reads ? explanation.readable : explanation.writable
  if (!names?.includes(attribute.name))
    return reads ? reasonUnread(attribute) : reasonUnwritten(attribute, explanation)
  return target && !target.allowed ? 'target' : 'covered'
}

const reasonUnread = (attribute: Attribute): FieldReason => refusalToRead(attribute) ?? 'not-covered'

function reasonUnwritten(attribute: Attribute, { terms }: Explanation): FieldReason {
  return refusalToWrite(attribute) ?? (Object.hasOwn(terms.set ?? {}, attribute.name) ? 'set' : 'not-covered')
}

/** What is read by nobody; null: a permission decides. */
function refusalToRead(attribute: Attribute): FieldReason | null {
  if (isPassword(attribute)) return 'password'
  return attribute.private ? 'private' : null
}

/** What is written by nobody; null: a permission decides. */
function refusalToWrite({ system, writable }: Attribute): FieldReason | null {
  if (system) return 'system'
  return writable ? null : 'not-writable'
}
