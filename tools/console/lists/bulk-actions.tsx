import { useListContext, useNotify } from 'ra-core'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { callApi } from '../api/client.ts'
import { type ListFilter, type ListRow, versionParams } from '../api/data-provider.ts'
import { labelOf, type TypeInfo } from '../api/schema.ts'
import { ActionButton } from '../shell/button.tsx'
import { useSchema } from '../shell/context.tsx'
import { useTranslate } from '../shell/i18n.tsx'
import { ConfirmModal } from '../shell/modal.tsx'
import { describeFault } from '../shell/notices.tsx'
import { describeValue } from './cell-value.tsx'

type Bulk = 'publish' | 'unpublish' | 'delete'

interface BulkActionsProps {
  readonly type: TypeInfo
  /** Gets the focus when the button that had it disappears. */
  readonly heading: RefObject<HTMLHeadingElement | null>
}

/** One request for each document: permissions, validation and events are those of single writes. */
export function BulkActions({ type, heading }: BulkActionsProps) {
  const translate = useTranslate()
  const { selectedIds, onUnselectItems } = useListContext<ListRow>()
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([])
  const [pending, setPending] = useState<Bulk | null>(null)
  const { busy, run } = useBulk(type, setOutcomes)
  const actions = bulkActionsOf(type)
  const leave = (close: () => void) => () => {
    heading.current?.focus()
    close()
  }
  const report = outcomes.length > 0 && (
    <Outcomes outcomes={outcomes} onClose={leave(() => setOutcomes([]))} />
  )
  // Always a fragment: the outcomes stay mounted, and take no focus, when documents are selected again.
  if (selectedIds.length === 0 || actions.length === 0) return <>{report}</>
  return (
    <>
      {report}
      <section className="bulk" aria-label={translate('selection')} aria-busy={busy}>
        <span>{translate('selected', { count: selectedIds.length })}</span>
        {actions.map(bulk => (
          <ActionButton key={bulk} inactive={busy} onClick={() => setPending(bulk)}>
            {translate(bulk)}
          </ActionButton>
        ))}
        <button type="button" className="quiet" onClick={leave(onUnselectItems)}>
          {translate('unselect')}
        </button>
        {pending && (
          <ConfirmModal
            title={translate(pending)}
            text={translate('bulkQuestion', { count: selectedIds.length })}
            action={translate(pending)}
            onConfirm={() => void run(pending)}
            onClose={() => setPending(null)}
          />
        )}
      </section>
    </>
  )
}

/** Runs an action on the selected documents, shows the list again and notifies the user. */
function useBulk(type: TypeInfo, onOutcomes: (outcomes: readonly Outcome[]) => void) {
  const translate = useTranslate()
  const schema = useSchema()
  const notify = useNotify()
  const { data, selectedIds, onUnselectItems, refetch, filterValues } = useListContext<ListRow>()
  const [busy, setBusy] = useState(false)
  const run = async (bulk: Bulk) => {
    const { locale } = versionParams(schema, type, filterValues as ListFilter)
    const rowOf = (id: string) => data?.find(row => row.id === id)
    setBusy(true)
    const outcomes = await changeAll(selectedIds.map(String), {
      change: id => changeDocument(type, bulk, id, locale),
      title: id => titleOf(type, rowOf(id)),
      describe: fault => describeFault(fault, translate),
    })
    setBusy(false)
    onOutcomes(outcomes)
    onUnselectItems()
    await refetch()
    const failed = outcomes.filter(({ fault }) => fault !== null).length
    const done = outcomes.length - failed
    if (failed === 0) notify(translate('bulkDone', { count: done }), { type: 'success' })
    else notify(translate('bulkFailed', { done, failed }), { type: 'error' })
  }
  return { busy, run }
}

interface Outcome {
  readonly id: string
  readonly title: string
  /** null: succeeded. */
  readonly fault: string | null
}

interface ChangeAllOptions {
  readonly change: (id: string) => Promise<void>
  readonly title: (id: string) => string | null
  readonly describe: (fault: unknown) => string
}

async function changeAll(
  ids: readonly string[],
  { change, title, describe }: ChangeAllOptions,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const id of ids)
    outcomes.push({ id, title: title(id) ?? id, fault: await change(id).then(() => null, describe) })
  return outcomes
}

function titleOf(type: TypeInfo, row: ListRow | undefined): string | null {
  const label = labelOf(type)
  return row && label !== null ? describeValue(row.values[label] ?? null) || null : null
}

/** The result of a bulk action for each document. It takes the focus of the selection's buttons, which are gone. */
function Outcomes({
  outcomes,
  onClose,
}: {
  readonly outcomes: readonly Outcome[]
  readonly onClose: () => void
}) {
  const translate = useTranslate()
  const section = useRef<HTMLElement>(null)
  useEffect(() => {
    if (outcomes.length > 0) section.current?.focus()
  }, [outcomes])
  return (
    <section className="outcomes" ref={section} tabIndex={-1} aria-label={translate('outcomes')}>
      <ul>
        {outcomes.map(({ id, title, fault }) => (
          <li key={id} className={fault === null ? undefined : 'failed'}>
            <bdi>{title}</bdi>: {fault ?? translate('done')}
          </li>
        ))}
      </ul>
      <button type="button" onClick={onClose}>
        {translate('close')}
      </button>
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
