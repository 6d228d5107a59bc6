import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNotify } from 'ra-core'
import { useState } from 'react'
import { useNavigate } from 'react-router-dom'
import { callApi } from '../api/client.ts'
import { showsDrafts } from '../api/populate.ts'
import { canPublish, changeDocument } from '../lists/bulk-actions.tsx'
import { ActionButton } from '../shell/button.tsx'
import { useSchema } from '../shell/context.tsx'
import { useTranslate } from '../shell/i18n.tsx'
import { ConfirmModal } from '../shell/modal.tsx'
import { ChangesModal, compareVersions } from './changes.tsx'
import type { DocumentForm } from './use-document.ts'
import { addressOf, type DocumentVersion, readVersion, type VersionKey } from './versions.ts'

interface StatusActionsProps {
  readonly versionKey: VersionKey
  readonly form: DocumentForm
  readonly isNew: boolean
  readonly allowed: boolean
  readonly save: (publish: boolean) => Promise<void>
}

type Dialog = 'changes' | 'unpublish' | 'delete' | null

export function StatusActions({ versionKey, form, isNew, allowed, save }: StatusActionsProps) {
  const translate = useTranslate()
  const { type } = versionKey
  const drafts = showsDrafts(type)
  const published = usePublished(versionKey, isNew)
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<Dialog>(null)
  const run = async (publish: boolean) => {
    await save(publish)
    await queries.invalidateQueries()
  }
  const exists = form.base !== null
  return (
    <div className="actions">
      {exists && type.draftAndPublish && (
        <StatusMark form={form} versionKey={versionKey} published={published} />
      )}
      {exists && published && drafts && (
        <button type="button" onClick={() => setDialog('changes')}>
          {translate('showChanges')}
        </button>
      )}
      {exists && published && allowed && canPublish(type) && (
        <ActionButton inactive={form.busy} onClick={() => setDialog('unpublish')}>
          {translate('unpublish')}
        </ActionButton>
      )}
      {exists && type.actions.has('delete') && (
        <ActionButton inactive={form.busy} onClick={() => setDialog('delete')}>
          {translate('delete')}
        </ActionButton>
      )}
      <PreviewLink versionKey={versionKey} form={form} />
      {allowed && (
        <ActionButton
          type="submit"
          className={drafts ? undefined : 'primary'}
          inactive={form.busy || (exists && !form.dirty)}
          onClick={() => void run(false)}
        >
          {translate(drafts ? 'saveDraft' : 'save')}
        </ActionButton>
      )}
      {allowed && canPublish(type) && drafts && (
        <ActionButton className="primary" inactive={form.busy} onClick={() => void run(true)}>
          {translate('publish')}
        </ActionButton>
      )}
      <StatusDialogs
        versionKey={versionKey}
        form={form}
        published={published}
        dialog={dialog}
        onClose={() => setDialog(null)}
      />
    </div>
  )
}

function usePublished(versionKey: VersionKey, isNew: boolean): DocumentVersion | null {
  const schema = useSchema()
  const { type, documentId, locale } = versionKey
  const { data } = useQuery({
    queryKey: ['published', type.uid, documentId, locale],
    queryFn: () => readVersion(schema, versionKey, 'published'),
    enabled: type.draftAndPublish && !isNew,
    retry: false,
  })
  return data ?? null
}

interface StatusMarkProps {
  readonly versionKey: VersionKey
  readonly form: DocumentForm
  readonly published: DocumentVersion | null
}

function StatusMark({ versionKey, form, published }: StatusMarkProps) {
  const translate = useTranslate()
  const modified = published && compareVersions(versionKey.type, published.values, form.values).length > 0
  const state = published ? (modified ? 'modified' : 'published') : 'draft'
  return <span className={`state ${state}`}>{translate(state)}</span>
}

/** A link to the document on the website; only http URLs, and only if all placeholders have a value. */
function PreviewLink({ versionKey, form }: Omit<StatusMarkProps, 'published'>) {
  const translate = useTranslate()
  const { preview } = versionKey.type.layout
  if (preview === null || form.base === null) return null
  const status = versionKey.type.draftAndPublish ? 'draft' : 'published'
  const values: Record<string, unknown> = { ...form.base.values, locale: versionKey.locale ?? '', status }
  const names = Array.from(preview.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
  if (names.some(name => name !== 'locale' && String(values[name] ?? '') === '')) return null
  const address = preview.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(String(values[name] ?? '')),
  )
  if (!/^(https?:\/\/|\/(?!\/))/.test(address)) return null
  return (
    <a className="button" href={address} target="_blank" rel="noreferrer">
      {translate('preview')}
    </a>
  )
}

interface StatusDialogsProps extends StatusMarkProps {
  readonly dialog: Dialog
  readonly onClose: () => void
}

function StatusDialogs({ versionKey, form, published, dialog, onClose }: StatusDialogsProps) {
  const translate = useTranslate()
  const notify = useNotify()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { type, documentId, locale } = versionKey
  const run = async (action: () => Promise<unknown>, onDone: () => void) => {
    onClose()
    try {
      await form.waitFor(action())
      onDone()
      await queries.invalidateQueries()
      notify(translate('done'), { type: 'success' })
    } catch (fault) {
      form.fail(fault)
    }
  }
  const discard = () =>
    run(
      () =>
        callApi('POST', `/actions${addressOf(versionKey)}/discard-draft`, {
          query: locale === null ? {} : { locale },
        }),
      () => {
        form.forget()
        void form.reload()
      },
    )
  const confirm = (action: 'unpublish' | 'delete', onDone: () => void) => (
    <ConfirmModal
      title={translate(action)}
      text={translate(action === 'delete' ? 'deleteQuestion' : 'unpublishQuestion')}
      action={translate(action)}
      onConfirm={() =>
        void run(() => changeDocument(type, action, documentId ?? '', locale ?? undefined), onDone)
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
      busy={form.busy}
      onDiscard={canPublish(type) ? () => void discard() : null}
      onClose={onClose}
    />
  )
}
