import type { Result } from '../base/result.ts'
import type { DocumentChange } from '../documents/documents.ts'
import type { Fault } from '../faults/fault.ts'
import type { DeleteCommand, StatusCommand } from '../query/command.ts'
import { parseFilter } from '../query/parse-filter.ts'
import type { Filter, Query } from '../query/query.ts'
import { parseDeletedLocale } from '../rest/parameters/parse-version.ts'
import { type ActionCall, type Params, type PrepareAction, unwrapOrThrow } from './action-call.ts'
import { authorizeCommand } from './authorize.ts'
import { parseDocumentId } from './parse-params.ts'
import { answerQuery } from './writes.ts'

export const preparePublish: PrepareAction = (params, call) => {
  const command = authorizeCommand<StatusCommand<'publish'>>(
    { kind: 'publish', ...versionsOf(params, call) },
    call,
  )
  const answer = answerQuery('publish', { ...params, status: 'published' }, call)
  return async () => toChanged(await call.terms.documents.publish(command, answer), command)
}

export const prepareUnpublish: PrepareAction = (params, call) => {
  const command = authorizeCommand<StatusCommand<'unpublish'>>(
    { kind: 'unpublish', ...versionsOf(params, call) },
    call,
  )
  const answer = answerQuery('publish', { ...params, status: 'draft' }, call)
  return async () => toChanged(await call.terms.documents.unpublish(command, answer), command)
}

export const prepareDiscardDraft: PrepareAction = (params, call) => {
  const command = authorizeCommand<StatusCommand<'discardDraft'>>(
    { kind: 'discardDraft', ...versionsOf(params, call) },
    call,
  )
  const answer = answerQuery('publish', { ...params, status: 'draft' }, call)
  return async () => toChanged(await call.terms.documents.discardDraft(command, answer), command)
}

/** A missing document yields an empty result, as in delete. */
function toChanged(changed: Result<DocumentChange, Fault>, { documentId }: StatusCommand): unknown {
  if (!changed.ok && changed.reasons[0]?.code === 'notFound') return { documentId, entries: [] }
  const { texts, documentId: found } = unwrapOrThrow(changed)
  return { documentId: found, entries: texts.map(text => JSON.parse(text)) }
}

/** Reads the entries before it deletes them: a caller without draft access gets the published ones. */
export const prepareDelete: PrepareAction = (params, call) => {
  const command = authorizeCommand<DeleteCommand>(
    { kind: 'delete', ...versionsOf(params, call), precondition: null },
    call,
  )
  const status = call.caller === null && call.type.draftAndPublish ? 'draft' : 'published'
  const answer = answerQuery('delete', { ...params, status }, call)
  const { query } = answer
  const { documentId } = command
  const take: Query['take'] = { kind: 'many', page: { start: 0, limit: MAX_LOCALES }, total: false }
  const filter = documentId === null ? query.filter : andFilter(query.filter, isDocument(call, documentId))
  return async () => {
    if (documentId?.includes('\0')) return { documentId, entries: [] }
    const { text } = await call.terms.documents.findMany({ ...query, take, filter }, 'flat')
    const deleted = unwrapOrThrow(await call.terms.documents.delete(command, [], answer))
    // Nothing is deleted of a document that is hidden from the caller.
    const entries: readonly { readonly documentId?: unknown }[] = deleted === null ? [] : JSON.parse(text)
    return { documentId: documentId ?? entries[0]?.documentId ?? null, entries }
  }
}

/** Maximum number of locale versions in a result. */
const MAX_LOCALES = 10_000

const andFilter = (one: Filter | null, other: Filter): Filter =>
  one ? { kind: 'and', filters: [one, other] } : other

const isDocument = ({ type }: ActionCall, documentId: string): Filter =>
  unwrapOrThrow(parseFilter({ documentId }, type))

/** Type, documentId and locale of a command. The locale defaults to the default locale; null (`*`): all. */
const versionsOf = (params: Params, call: ActionCall) => ({
  type: call.type,
  documentId: parseDocumentId(params, call),
  locale: unwrapOrThrow(parseDeletedLocale(call.type, params.locale, call.terms.model)),
})
