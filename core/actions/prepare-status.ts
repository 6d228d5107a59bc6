import type { Result } from '../base/result.ts'
import type { Answer, DocumentChange, Documents } from '../documents/documents.ts'
import { type Fault, unwrap } from '../faults/fault.ts'
import type { PermittedCommand, StatusChange, StatusCommand } from '../query/command.ts'
import type { Status } from '../query/query.ts'
import type { PrepareAction } from './action-call.ts'
import { authorizeCommand } from './authorize.ts'
import { versionAnswer, versionsOf } from './prepare-write.ts'

export const preparePublish = changesStatus('publish', 'published', documents => documents.publish)

export const prepareUnpublish = changesStatus('unpublish', 'draft', documents => documents.unpublish)

export const prepareDiscardDraft = changesStatus('discardDraft', 'draft', documents => documents.discardDraft)

type ChangeStatus<Kind extends StatusChange> = (
  command: PermittedCommand<StatusCommand<Kind>>,
  answer: Answer,
) => Promise<Result<DocumentChange, Fault>>

/** `status`: of the versions that are answered. A missing document yields an empty result, as in delete. */
function changesStatus<Kind extends StatusChange>(
  kind: Kind,
  status: Status,
  changeOf: (documents: Documents) => ChangeStatus<Kind>,
): PrepareAction {
  return (call, terms) => {
    const command = authorizeCommand<StatusCommand<Kind>>({ kind, ...versionsOf(call, terms) }, call)
    const answer = versionAnswer('publish', status, { call, terms })
    return async () => {
      const changed = await changeOf(terms.documents)(command, answer)
      return { kind: 'value', value: toChanged(changed, command.documentId) }
    }
  }
}

function toChanged(changed: Result<DocumentChange, Fault>, documentId: string | null): unknown {
  if (!changed.ok && changed.reasons[0]?.code === 'notFound') return { documentId, entries: [] }
  const { texts, documentId: found } = unwrap(changed)
  return { documentId: found, entries: texts.map(text => JSON.parse(text)) }
}
