import type { Caller } from '../access/caller.ts'
import { filterFor } from '../access/compile/condition.ts'
import { visibleDocuments } from '../access/restrict/sights.ts'
import { didYouMean } from '../base/nearest.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault, forbidden, invalidBodyKey } from '../faults/fault.ts'
import type { ContentType, MediaAttribute, Model } from '../model/model.ts'
import type { Sight } from '../query/command.ts'
import type { Filter } from '../query/query.ts'

/** Where new files go: a media attribute of one document (contract/rest.md 15). */
export interface Attachment {
  readonly type: ContentType
  readonly attribute: MediaAttribute
  readonly target: { readonly id: number } | { readonly documentId: string }
  /** The document has to meet it; null: nothing. */
  readonly where: Filter | null
  /** How the caller sees documents of the type. */
  readonly sights: readonly Sight[] | null
  /** What it has to meet for its published version to change, too; `never`: the draft alone is the caller's. */
  readonly publishing: Filter | null | 'never'
}

/** As a form says it; undefined: it does not. */
export interface AskedAttachment {
  readonly ref: string | undefined
  readonly refId: string | undefined
  readonly field: string | undefined
}

/** Attaching writes to the document: it takes `update` on it and its field, and `publish` for the published version. */
export function permitAttachment(
  asked: AskedAttachment,
  model: Model,
  caller: Caller,
): Result<Attachment | null, Fault> {
  const { ref, refId, field } = asked
  if (!ref && !refId && !field) return ok(null)
  const type = model.contentTypes.get(ref ?? '')
  if (!type || type.builtIn) return failed(unknownType(ref, model))
  if (!refId || refId.includes('\0')) return failed(expected('refId', 'the id of a document'))
  const attribute = type.attributes.get(field ?? '')
  if (attribute?.kind !== 'media') return failed(unknownField(field, type))
  const writing = caller.grants.writeAccess(type, 'update')
  if (!writing) return failed(forbidden())
  const open = attribute.writable && !Object.hasOwn(writing.set, attribute.name)
  if (!open || (writing.fields && !writing.fields.has(attribute.name)))
    return failed(invalidBodyKey(attribute.name, attribute.name))
  return ok({
    type,
    attribute,
    target: /^\d{1,9}$/.test(refId) ? { id: Number(refId) } : { documentId: refId },
    where: writing.where && filterFor(writing.where, caller.user),
    sights: writing.opened ? null : visibleDocuments(type, caller),
    publishing: publishingBy(type, caller),
  })
}

function publishingBy(type: ContentType, { grants, user }: Caller): Attachment['publishing'] {
  if (!type.draftAndPublish) return null
  const publishing = grants.writeAccess(type, 'publish')
  if (!publishing) return 'never'
  return publishing.where && filterFor(publishing.where, user)
}

function unknownType(ref: string | undefined, { contentTypes }: Model): Fault {
  const known = [...contentTypes.values()].filter(({ builtIn }) => !builtIn).map(({ uid }) => uid)
  return expected('ref', `the uid of a content-type${ref ? didYouMean(ref, known) : ''}`)
}

function unknownField(field: string | undefined, { attributes, uid }: ContentType): Fault {
  const known = [...attributes.values()].filter(({ kind }) => kind === 'media').map(({ name }) => name)
  return expected('field', `a media attribute of ${uid}${field ? didYouMean(field, known) : ''}`)
}

const expected = (key: string, what: string): Fault =>
  fault('validation', `Invalid ${key}: expected ${what}`, { key, expected: what })
