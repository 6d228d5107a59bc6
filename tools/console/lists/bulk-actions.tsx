import { useListContext, useNotify } from 'ra-core'
import { useState } from 'react'
import { callApi } from '../api/client.ts'
import { type ListFilter, type ListRow, versionParams } from '../api/data-provider.ts'
import type { TypeInfo } from '../api/schema.ts'
import { useSchema } from '../shell/context.tsx'
import { useWords } from '../shell/i18n.tsx'
import { ConfirmModal } from '../shell/modal.tsx'
import { describeFault } from '../shell/notices.tsx'

type Bulk = 'publish' | 'unpublish' | 'delete'

/** One request for each document: permissions, validation and events are those of single writes. */
export function BulkActions({ type }: { readonly type: TypeInfo }) {
  const words = useWords()
  const schema = useSchema()
  const notify = useNotify()
  const { selectedIds, onUnselectItems, refetch, filterValues } = useListContext<ListRow>()
  const [pending, setPending] = useState<Bulk | null>(null)
  const [busy, setBusy] = useState(false)
  const actions = bulkActionsOf(type)
  if (selectedIds.length === 0 || actions.length === 0) return null
  const { locale } = versionParams(schema, type, filterValues as ListFilter)
  const run = async (bulk: Bulk) => {
    setBusy(true)
    const faults: unknown[] = []
    for (const id of selectedIds)
      await changeDocument(type, bulk, String(id), locale).catch((fault: unknown) => faults.push(fault))
    setBusy(false)
    const done = selectedIds.length - faults.length
    onUnselectItems()
    await refetch()
    if (faults.length === 0) notify(words('bulkDone', { count: done }), { type: 'success' })
    else {
      const reason = describeFault(faults[0], words)
      notify(words('bulkFailed', { done, failed: faults.length, reason }), { type: 'error' })
    }
  }
  return (
    <section className="bulk" aria-label={words('selection')} aria-busy={busy}>
      <span>{words('selected', { count: selectedIds.length })}</span>
      {actions.map(bulk => (
        <button key={bulk} type="button" disabled={busy} onClick={() => setPending(bulk)}>
          {words(bulk)}
        </button>
      ))}
      <button type="button" className="quiet" onClick={() => onUnselectItems()}>
        {words('unselect')}
      </button>
      {pending && (
        <ConfirmModal
          title={words(pending)}
          text={words('bulkQuestion', { count: selectedIds.length })}
          action={words(pending)}
          onConfirm={() => void run(pending)}
          onClose={() => setPending(null)}
        />
      )}
    </section>
  )
}

const bulkActionsOf = (type: TypeInfo): readonly Bulk[] => [
  ...(canPublish(type) ? (['publish', 'unpublish'] as const) : []),
  ...(type.actions.has('delete') ? (['delete'] as const) : []),
]

export const canPublish = (type: TypeInfo): boolean =>
  type.draftAndPublish && type.actions.has('publish') && type.actions.has('update')

export async function changeDocument(
  type: TypeInfo,
  bulk: Bulk,
  documentId: string,
  locale: string | undefined,
): Promise<void> {
  const path = type.kind === 'singleType' ? type.path : `${type.path}/${encodeURIComponent(documentId)}`
  const query = locale === undefined ? {} : { locale }
  if (bulk === 'delete') await callApi('DELETE', path, { query })
  else if (bulk === 'publish') await callApi('PUT', path, { query, body: { data: {} } })
  else await callApi('POST', `/actions${path}/unpublish`, { query })
}
