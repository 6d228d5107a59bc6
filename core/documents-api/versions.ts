import type { Result } from '../base/result.ts'
import type { Changed } from '../documents/documents.ts'
import type { Fault } from '../faults/fault.ts'
import type { DeleteCommand, StatusCommand } from '../query/command.ts'
import { parseFilter } from '../query/parse-filter.ts'
import type { Filter, Query } from '../query/query.ts'
import { parseDeletedLocale } from '../rest/parameters/parse-version.ts'
import type { Act, Params, Prepare } from './act.ts'
import { allow } from './narrow.ts'
import { documentIdOf } from './read-params.ts'
import { given } from './unwrap-result.ts'
import { answerTo } from './writes.ts'

export const publish: Prepare = (params, act) => {
  const command = allow<StatusCommand<'publish'>>({ kind: 'publish', ...versionsOf(params, act) }, act)
  const answer = answerTo('publish', { ...params, status: 'published' }, act)
  return async () => toChanged(await act.terms.documents.publish(command, answer), command)
}

export const unpublish: Prepare = (params, act) => {
  const command = allow<StatusCommand<'unpublish'>>({ kind: 'unpublish', ...versionsOf(params, act) }, act)
  const answer = answerTo('publish', { ...params, status: 'draft' }, act)
  return async () => toChanged(await act.terms.documents.unpublish(command, answer), command)
}

export const discardDraft: Prepare = (params, act) => {
  const command = allow<StatusCommand<'discardDraft'>>(
    { kind: 'discardDraft', ...versionsOf(params, act) },
    act,
  )
  const answer = answerTo('publish', { ...params, status: 'draft' }, act)
  return async () => toChanged(await act.terms.documents.discardDraft(command, answer), command)
}

/** Nothing to change is no fault, as nothing to delete is none. */
function toChanged(changed: Result<Changed, Fault>, { documentId }: StatusCommand): unknown {
  if (!changed.ok && changed.reasons[0]?.code === 'notFound') return { documentId, entries: [] }
  const { texts, documentId: found } = given(changed)
  return { documentId: found, entries: texts.map(text => JSON.parse(text)) }
}

/** What is deleted is read before: a caller without drafts sees of it what was published. */
export const remove: Prepare = (params, act) => {
  const command = allow<DeleteCommand>(
    { kind: 'delete', ...versionsOf(params, act), precondition: null },
    act,
  )
  const status = act.who === null && act.type.draftAndPublish ? 'draft' : 'published'
  const answer = answerTo('delete', { ...params, status }, act)
  const { query } = answer
  const { documentId } = command
  const take: Query['take'] = { kind: 'many', page: { start: 0, limit: MOST_LOCALES }, total: false }
  const filter = documentId === null ? query.filter : both(query.filter, isDocument(act, documentId))
  return async () => {
    if (documentId?.includes('\0')) return { documentId, entries: [] }
    const { text } = await act.terms.documents.findMany({ ...query, take, filter }, 'flat')
    const deleted = given(await act.terms.documents.delete(command, [], answer))
    // Nothing is deleted of a document that is hidden from the caller.
    const entries: readonly { readonly documentId?: unknown }[] = deleted === null ? [] : JSON.parse(text)
    return { documentId: documentId ?? entries[0]?.documentId ?? null, entries }
  }
}

/** More than anybody translates into. */
const MOST_LOCALES = 10_000

const both = (one: Filter | null, other: Filter): Filter =>
  one ? { kind: 'and', filters: [one, other] } : other

const isDocument = ({ type }: Act, documentId: string): Filter => given(parseFilter({ documentId }, type))

/** One locale, by default the default one; `*` is all of them. */
const versionsOf = (params: Params, act: Act) => ({
  type: act.type,
  documentId: documentIdOf(params, act),
  locale: given(parseDeletedLocale(act.type, params.locale, act.terms.model)),
})
