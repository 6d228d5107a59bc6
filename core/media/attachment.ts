import { type Caller, mayContain, type WriteAccess } from '../access/caller.ts'
import { filterFor } from '../access/compile/condition.ts'
import { deniedType } from '../access/denial.ts'
import { visibleDocuments } from '../access/restrict/permit.ts'
import { didYouMean } from '../base/nearest.ts'
import type { DesiredDocument, DesiredVersion, LinkTarget } from '../documents/desired-state.ts'
import {
  choiceOf,
  countMatching,
  findSingle,
  lockSingle,
  visibleLocales,
} from '../documents/read/matching.ts'
import { isShared } from '../documents/rows/planning.ts'
import type { LockingOptions, WriteOptions } from '../documents/rows/write-options.ts'
import { printDocumentLock } from '../documents/stored/print-stored-update.ts'
import { fault, forbidden, invalidBodyKey, RequestFault } from '../faults/fault.ts'
import type { ContentType, MediaAttribute, Model } from '../model/model.ts'
import type { TableLink } from '../model/storage.ts'
import type { VisibleVersion } from '../query/command.ts'
import type { Filter, Status } from '../query/query.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'

/** The media attribute of one document that new files are attached to (reference/rest.md#15-upload). */
export interface Attachment {
  readonly type: ContentType
  readonly attribute: MediaAttribute
  readonly target: { readonly id: number } | { readonly documentId: string }
  /** Condition on the document; null: none. */
  readonly where: Filter | null
  /** Which versions of the content-type the caller may see. */
  readonly visible: readonly VisibleVersion[] | null
  /** Condition for changing the published version as well; null: none; `never`: the caller may change the draft only. */
  readonly publishing: Filter | null | 'never'
}

/** Fields of the form; undefined if absent. */
export interface AttachmentFields {
  readonly ref: string | undefined
  readonly refId: string | undefined
  readonly field: string | undefined
}

/**
 * Attaching writes to the document: it requires `update` on the document and the field, and `publish` for the published
 * version; otherwise throws a RequestFault. null: the form names no document.
 */
export function permitAttachment(
  { ref, refId, field }: AttachmentFields,
  model: Model,
  caller: Caller,
): Attachment | null {
  if (!ref && !refId && !field) return null
  const type = model.contentTypes.get(ref ?? '')
  if (!type || !takesFiles(type, model)) throw unknownType(ref, model, caller)
  if (!refId || refId.includes('\0')) throw invalidField('refId', 'the id of a document')
  const attribute = type.attributes.get(field ?? '')
  const writing = caller.grants.writeAccess(type, 'update')
  if (attribute?.kind !== 'media') throw unknownField(field, type, writing)
  if (!writing) throw deniedType(caller, type, 'update')
  if (!isOpen(attribute, writing)) throw new RequestFault(invalidBodyKey(attribute.name, attribute.name))
  if (Object.keys(writing.set).length > 0) throw new RequestFault(forbidden(SETS_VALUES))
  return {
    type,
    attribute,
    target: /^\d{1,9}$/.test(refId) ? { id: Number(refId) } : { documentId: refId },
    where: writing.where && filterFor(writing.where, caller.user),
    visible: writing.opened ? null : visibleDocuments(type, caller),
    publishing: publishCondition(type, caller),
  }
}

/** An attachment changes the media attribute alone, and must not leave out what the server sets with every update. */
const SETS_VALUES =
  'The permission `update` has `set`, which an upload with `ref` does not write: upload the file, then write its id to the document'

const isOpen = ({ name, writable }: MediaAttribute, writing: WriteAccess): boolean =>
  writable && !Object.hasOwn(writing.set, name) && mayContain(writing, name)

function publishCondition(type: ContentType, { grants, user }: Caller): Attachment['publishing'] {
  if (!type.draftAndPublish) return null
  const publishing = grants.writeAccess(type, 'publish')
  if (!publishing) return 'never'
  return publishing.where && filterFor(publishing.where, user)
}

/** Content-types of the project, and users: a project may give them media attributes. */
const takesFiles = (type: ContentType, { builtIn }: Model): boolean => !type.builtIn || type === builtIn.user

// Proposals are what the caller may write: other names are no answer to a guess.

function unknownType(ref: string | undefined, model: Model, { grants }: Caller): RequestFault {
  const types = [...model.contentTypes.values()].filter(type => takesFiles(type, model))
  const known = types.filter(type => grants.writeAccess(type, 'update')).map(({ uid }) => uid)
  return invalidField('ref', `the uid of a content-type${ref ? didYouMean(ref, known) : ''}`)
}

function unknownField(
  field: string | undefined,
  { attributes, uid }: ContentType,
  writing: WriteAccess | null,
): RequestFault {
  const known = [...attributes.values()].flatMap(each =>
    each.kind === 'media' && writing && isOpen(each, writing) ? [each.name] : [],
  )
  return invalidField('field', `a media attribute of ${uid}${field ? didYouMean(field, known) : ''}`)
}

const invalidField = (key: string, what: string): RequestFault =>
  new RequestFault(fault('validation', `Invalid ${key}: expected ${what}`, { key, expected: what }))

export interface AttachmentOptions extends WriteOptions {
  readonly attachment: Attachment
}

interface OwnerRow {
  readonly id: number
  readonly documentId: string
  readonly status: Status
  readonly locale: string | null
}

/**
 * Plans the document update that attaches files: appended to a list, or replacing a single file. null: the caller sees no
 * such document. Draft and published version keep separate lists; no version is created.
 */
export async function planAttachment(
  fileIds: readonly string[],
  options: AttachmentOptions,
): Promise<DesiredDocument | null> {
  const { type, attribute, where, publishing } = options.attachment
  const all = await ownerRows(options)
  const rows = inOneLocale(all, options)
  const [first] = rows
  const affected = isShared(type, attribute) ? all : rows
  if (!first || !(await isVisible(first, options)) || !(await meetsCondition(where, affected, options)))
    return null
  const publishes = publishing !== 'never' && (await meetsCondition(publishing, affected, options))
  const versions: DesiredVersion[] = []
  for (const row of rows.filter(({ status }) => publishes || status === 'draft')) {
    const before = attribute.many ? await attachedFiles(row, options) : []
    const targets = [...before, ...fileIds].map(toTarget)
    versions.push({
      locale: row.locale,
      statuses: [row.status],
      values: new Map([[attribute.name, { kind: 'links', targets }]]),
      // Attaching is no publication: lists sorted by its time keep their order.
      ...(type.draftAndPublish && { publishing: { keeps: true } }),
    })
  }
  return versions.length === 0 ? null : { type, documentId: first.documentId, versions }
}

const toTarget = (documentId: string): LinkTarget => ({ documentId, locale: null, status: null })

/**
 * The rows of the document, locked. They are read by a statement of their own after the lock: a concurrent write may have
 * inserted a published version or another locale just before.
 */
async function ownerRows(options: AttachmentOptions): Promise<readonly OwnerRow[]> {
  const { attachment, storage, transaction } = options
  const { target } = attachment
  const table = storage.table(attachment.type)
  const status = table.status === null ? `'published'` : ident(table.status)
  const locale = table.locale === null ? 'NULL' : ident(table.locale)
  const [column, value] = 'id' in target ? [table.id, target.id] : [table.documentId, target.documentId]
  const from = `FROM ${ident(table.name)} WHERE ${ident(table.documentId)} IN (SELECT ${ident(table.documentId)} FROM ${ident(table.name)} WHERE ${ident(column)} = $1) ORDER BY ${ident(table.id)}`
  await transaction.run({
    name: `lock ${attachment.type.key}`,
    text: `SELECT ${ident(table.id)} ${from} FOR NO KEY UPDATE`,
    values: [value],
  })
  const { rows } = await transaction.run({
    name: `find ${attachment.type.key} to attach to`,
    text: `SELECT ${ident(table.id)}, ${ident(table.documentId)}, ${status}, ${locale} ${from}`,
    values: [value],
  })
  return rows.map(
    ([id, documentId, state, code]): OwnerRow => ({
      id: Number(id),
      documentId: String(documentId),
      status: state === 'draft' ? 'draft' : 'published',
      locale: typeof code === 'string' ? code : null,
    }),
  )
}

/** `documentId` null: the document of a single type. */
export interface ChangedDocument {
  readonly type: ContentType
  readonly documentId: string | null
}

/**
 * Locks the rows of a document, so that a list that is read next is not changed by another write before this one ends. A single
 * type that is not there is locked, too: of two requests that create it, the second reads what the first left.
 */
export async function lockDocument(changed: ChangedDocument, options: LockingOptions): Promise<void> {
  if ((await lockRows(changed, options)) || changed.documentId !== null) return
  await lockSingle(changed.type, options)
  await lockRows(changed, options)
}

/** False if there are none. */
async function lockRows({ type, documentId }: ChangedDocument, options: WriteOptions): Promise<boolean> {
  const known = documentId ?? (await findSingle(type, options))
  if (known === null) return false
  const { rows } = await options.transaction.run(printDocumentLock(type, known, options))
  return rows.length > 0
}

/** Rows in the locale of the row with the given id; with a documentId, in the default locale. */
function inOneLocale(
  rows: readonly OwnerRow[],
  { attachment: { type, target }, defaultLocale }: AttachmentOptions,
): readonly OwnerRow[] {
  if (!type.localized) return rows
  const wanted = 'id' in target ? rows.find(({ id }) => id === target.id)?.locale : defaultLocale
  return rows.filter(row => row.locale === wanted)
}

async function isVisible({ documentId, locale }: OwnerRow, options: AttachmentOptions): Promise<boolean> {
  const { type, visible } = options.attachment
  const seen = await visibleLocales({ type, documentId, locale, conditions: { visible } }, options)
  return seen(locale)
}

/** True if the document meets the condition in every affected locale: a shared attribute changes in all of them. */
async function meetsCondition(
  where: Filter | null,
  rows: readonly OwnerRow[],
  options: AttachmentOptions,
): Promise<boolean> {
  const { type } = options.attachment
  if (where === null) return true
  const documentIds = rows.slice(0, 1).map(({ documentId }) => documentId)
  const locales = new Set(rows.map(({ locale }) => locale))
  const [locale] = locales
  const choice = choiceOf(type, locales.size === 1 ? (locale ?? null) : null)
  return (await countMatching({ type, documentIds, locale: choice, filter: where }, options)) === locales.size
}

/** documentIds of the files attached to a version, in order. */
async function attachedFiles({ id }: OwnerRow, options: AttachmentOptions): Promise<readonly string[]> {
  const { attachment, storage, transaction } = options
  const { type, attribute } = attachment
  const link = storage.link(type, attribute.name)
  if (link.kind !== 'table') return []
  const file = storage.table(attribute.target)
  const { rows } = await transaction.run({
    name: `find ${attribute.name} of ${type.key}`,
    text: `SELECT f.${ident(file.documentId)} FROM ${ident(storage.table(type).name)} o JOIN ${ident(link.table)} l ON ${ownerJoin(link)} JOIN ${ident(file.name)} f ON f.${ident(file.key)} = l.${ident(link.targetKey)} WHERE o.${ident('id')} = $1 ORDER BY l.${ident(link.position)}, l.${ident('id')}`,
    values: [id],
  })
  return rows.map(([documentId]) => String(documentId))
}

const ownerJoin = ({ owner }: TableLink): string =>
  owner.map(([link, column]) => `l.${ident(link)} = o.${ident(column)}`).join(' AND ')
