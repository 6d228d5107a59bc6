import { useQueryClient } from '@tanstack/react-query'
import { useNotify } from 'ra-core'
import { useState } from 'react'
import { asText, type JsonRecord } from '../api/json.ts'
import { useTranslate } from '../shell/i18n.tsx'
import { ConfirmModal } from '../shell/modal.tsx'
import { describeFault } from '../shell/notices.tsx'
import { FileModal } from './file-card.tsx'
import { deleteFile, uploadFiles } from './files.ts'
import { Library } from './library.tsx'
import { UploadInput } from './media-input.tsx'

export function MediaPage() {
  const translate = useTranslate()
  const notify = useNotify()
  const queries = useQueryClient()
  const [edited, setEdited] = useState<JsonRecord | null>(null)
  const [deleted, setDeleted] = useState<JsonRecord | null>(null)
  const refresh = () => queries.invalidateQueries({ queryKey: ['files'] })
  const remove = (file: JsonRecord) =>
    deleteFile(file.id ?? null)
      .then(refresh)
      .catch((fault: unknown) => notify(describeFault(fault, translate), { type: 'error' }))
  return (
    <>
      <div className="title-row">
        <h1>{translate('media')}</h1>
        <UploadInput id="upload" multiple kinds={[]} upload={files => uploadFiles(files).then(refresh)} />
      </div>
      <Library kinds={[]}>
        {file => (
          <span className="entry-buttons">
            <button type="button" onClick={() => setEdited(file)}>
              {translate('details')} <span className="hidden-text">{asText(file.name)}</span>
            </button>
            <button type="button" onClick={() => setDeleted(file)}>
              {translate('delete')} <span className="hidden-text">{asText(file.name)}</span>
            </button>
          </span>
        )}
      </Library>
      {edited && (
        <FileModal
          file={edited}
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null)
            void refresh()
          }}
        />
      )}
      {deleted && (
        <ConfirmModal
          title={translate('delete')}
          text={translate('deleteFileQuestion', { name: asText(deleted.name) })}
          action={translate('delete')}
          onConfirm={() => void remove(deleted)}
          onClose={() => setDeleted(null)}
        />
      )}
    </>
  )
}
