import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNotify } from 'ra-core'
import { useState } from 'react'
import { useNavigate } from 'react-router-dom'
import { callApi } from '../api/client.ts'
import { showsDrafts } from '../api/populate.ts'
import { canPublish, changeDocument } from '../lists/bulk-actions.tsx'
import { ActionButton } from '../shell/button.tsx'
import { useSchema } from '../shell/context.tsx'
import { useWords } from '../shell/i18n.tsx'
import { ConfirmModal } from '../shell/modal.tsx'
import { ChangesModal, compareVersions } from './changes.tsx'
import type { DocumentForm } from './use-document.ts'
import { addressOf, type DocumentPlace, type DocumentVersion, readVersion } from './versions.ts'

interface StatusActionsProps {
  readonly place: DocumentPlace
  readonly form: DocumentForm
  readonly isNew: boolean
  readonly allowed: boolean
  readonly save: (publish: boolean) => Promise<void>
}

type Dialog = 'changes' | 'unpublish' | 'delete' | null

export function StatusActions({ place, form, isNew, allowed, save }: StatusActionsProps) {
  const words = useWords()
  const { type } = place
  const drafts = showsDrafts(type)
  const published = usePublished(place, isNew)
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<Dialog>(null)
  const run = async (publish: boolean) => {
    await save(publish)
    await queries.invalidateQueries()
  }
  const exists = form.base !== null
  return (
    <div className="actions">
      {exists && type.draftAndPublish && <StatusMark form={form} place={place} published={published} />}
      {exists && published && drafts && (
        <button type="button" onClick={() => setDialog('changes')}>
          {words('showChanges')}
        </button>
      )}
      {exists && published && allowed && canPublish(type) && (
        <ActionButton off={form.busy} onClick={() => setDialog('unpublish')}>
          {words('unpublish')}
        </ActionButton>
      )}
      {exists && type.actions.has('delete') && (
        <ActionButton off={form.busy} onClick={() => setDialog('delete')}>
          {words('delete')}
        </ActionButton>
      )}
      <PreviewLink place={place} form={form} />
      {allowed && (
        <ActionButton
          type="submit"
          className={drafts ? undefined : 'primary'}
          off={form.busy || (exists && !form.dirty)}
          onClick={() => void run(false)}
        >
          {words(drafts ? 'saveDraft' : 'save')}
        </ActionButton>
      )}
      {allowed && canPublish(type) && drafts && (
        <ActionButton className="primary" off={form.busy} onClick={() => void run(true)}>
          {words('publish')}
        </ActionButton>
      )}
      <StatusDialogs
        place={place}
        form={form}
        published={published}
        dialog={dialog}
        onClose={() => setDialog(null)}
      />
    </div>
  )
}

function usePublished(place: DocumentPlace, isNew: boolean): DocumentVersion | null {
  const schema = useSchema()
  const { type, documentId, locale } = place
  const { data } = useQuery({
    queryKey: ['published', type.uid, documentId, locale],
    queryFn: () => readVersion(schema, place, 'published'),
    enabled: type.draftAndPublish && !isNew,
    retry: false,
  })
  return data ?? null
}

interface StatusMarkProps {
  readonly place: DocumentPlace
  readonly form: DocumentForm
  readonly published: DocumentVersion | null
}

function StatusMark({ place, form, published }: StatusMarkProps) {
  const words = useWords()
  const modified = published && compareVersions(place.type, published.values, form.values).length > 0
  const state = published ? (modified ? 'modified' : 'published') : 'draft'
  return <span className={`state ${state}`}>{words(state)}</span>
}

/** The page of the website that shows this document; only http addresses, and none with an empty value. */
function PreviewLink({ place, form }: Omit<StatusMarkProps, 'published'>) {
  const words = useWords()
  const { preview } = place.type.layout
  if (preview === null || form.base === null) return null
  const status = place.type.draftAndPublish ? 'draft' : 'published'
  const values: Record<string, unknown> = { ...form.base.values, locale: place.locale ?? '', status }
  const names = Array.from(preview.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
  if (names.some(name => name !== 'locale' && String(values[name] ?? '') === '')) return null
  const address = preview.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(String(values[name] ?? '')),
  )
  if (!/^(https?:\/\/|\/(?!\/))/.test(address)) return null
  return (
    <a className="button" href={address} target="_blank" rel="noreferrer">
      {words('preview')}
    </a>
  )
}

interface StatusDialogsProps extends StatusMarkProps {
  readonly dialog: Dialog
  readonly onClose: () => void
}

function StatusDialogs({ place, form, published, dialog, onClose }: StatusDialogsProps) {
  const words = useWords()
  const notify = useNotify()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { type, documentId, locale } = place
  const run = async (action: () => Promise<unknown>, after: () => void) => {
    onClose()
    try {
      await action()
      after()
      await queries.invalidateQueries()
      notify(words('done'), { type: 'success' })
    } catch (fault) {
      form.fail(fault)
    }
  }
  const discard = () =>
    run(
      () =>
        callApi('POST', `/actions${addressOf(place)}/discard-draft`, {
          query: locale === null ? {} : { locale },
        }),
      () => {
        form.forget()
        void form.reload()
      },
    )
  const confirm = (action: 'unpublish' | 'delete', after: () => void) => (
    <ConfirmModal
      title={words(action)}
      text={words(action === 'delete' ? 'deleteQuestion' : 'unpublishQuestion')}
      action={words(action)}
      onConfirm={() =>
        void run(() => changeDocument(type, action, documentId ?? '', locale ?? undefined), after)
      }
      onClose={onClose}
    />
  )
  if (dialog === 'unpublish') return confirm('unpublish', () => undefined)
  if (dialog === 'delete')
    return confirm('delete', () => {
      form.forget()
      navigate(type.kind === 'singleType' ? '/' : `/content/${type.pluralName}`)
    })
  if (dialog !== 'changes' || !published) return null
  return (
    <ChangesModal
      type={type}
      published={published.values}
      draft={form.values}
      onDiscard={canPublish(type) ? () => void discard() : null}
      onClose={onClose}
    />
  )
}
