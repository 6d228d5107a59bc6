import { type ChangeEvent, useState } from 'react'
import { asText, type JsonRecord, objectsOf } from '../api/json.ts'
import type { InputProps } from '../fields/field-props.ts'
import { useForm } from '../fields/form-context.tsx'
import { OrderedList } from '../fields/ordered-list.tsx'
import { useSchema } from '../shell/context.tsx'
import { useTranslate } from '../shell/i18n.tsx'
import { Modal } from '../shell/modal.tsx'
import { describeFault } from '../shell/notices.tsx'
import { FileModal, FilePicture } from './file-card.tsx'
import { mimesOf, uploadFiles } from './files.ts'
import { Library } from './library.tsx'

export function MediaInput(props: InputProps) {
  const translate = useTranslate()
  const { attribute, value, readOnly, onChange } = props
  const [choosing, setChoosing] = useState(false)
  const [edited, setEdited] = useState<JsonRecord | null>(null)
  const files = objectsOf(value)
  const asValue = (next: readonly JsonRecord[]) => (attribute.multiple ? next : (next.at(-1) ?? null))
  const apply = (next: readonly JsonRecord[]) => onChange(asValue(next))
  const add = (added: readonly JsonRecord[]) => {
    const known = new Set(added.map(({ id }) => id))
    onChange(current => asValue([...objectsOf(current).filter(({ id }) => !known.has(id)), ...added]))
  }
  return (
    <>
      <OrderedList
        items={files}
        keyOf={({ id }) => String(id)}
        labelOf={file => asText(file.name)}
        readOnly={readOnly}
        onMove={attribute.multiple && files.length > 1 ? apply : null}
        onRemove={index => apply(files.toSpliced(index, 1))}
      >
        {file => (
          <>
            <FilePicture file={file} /> <bdi>{asText(file.name)}</bdi>{' '}
            {!readOnly && (
              <button type="button" onClick={() => setEdited(file)}>
                {translate('details')} <span className="hidden-text">{asText(file.name)}</span>
              </button>
            )}
          </>
        )}
      </OrderedList>
      {!readOnly && <MediaButtons {...props} onAdd={add} onLibrary={() => setChoosing(true)} />}
      {choosing && (
        <Modal title={translate('library')} wide onClose={() => setChoosing(false)}>
          <Library kinds={mimesOf(attribute.allowedTypes)}>
            {file => (
              <button
                type="button"
                onClick={() => {
                  add([file])
                  if (!attribute.multiple) setChoosing(false)
                }}
              >
                {translate('choose')} <span className="hidden-text">{asText(file.name)}</span>
              </button>
            )}
          </Library>
        </Modal>
      )}
      {edited && <FileModal file={edited} onSaved={() => setEdited(null)} onClose={() => setEdited(null)} />}
    </>
  )
}

interface MediaButtonsProps extends InputProps {
  readonly onAdd: (files: readonly JsonRecord[]) => void
  readonly onLibrary: () => void
}

function MediaButtons({ id, attribute, onAdd, onLibrary }: MediaButtonsProps) {
  const translate = useTranslate()
  const { waitFor } = useForm()
  return (
    <>
      {useSchema().upload && (
        <UploadInput
          id={id}
          multiple={attribute.multiple}
          kinds={attribute.allowedTypes}
          upload={files => waitFor(uploadFiles(files).then(onAdd))}
        />
      )}
      <button type="button" onClick={onLibrary}>
        {translate('library')}
      </button>
    </>
  )
}

interface UploadInputProps {
  readonly id: string
  readonly multiple: boolean
  readonly kinds: readonly string[]
  readonly upload: (files: readonly File[]) => Promise<void>
}

export function UploadInput({ id, multiple, kinds, upload }: UploadInputProps) {
  const translate = useTranslate()
  const [fault, setFault] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const change = async (event: ChangeEvent<HTMLInputElement>) => {
    const input = event.target
    if (busy) return
    setBusy(true)
    setFault(null)
    try {
      await upload([...(input.files ?? [])])
    } catch (error) {
      setFault(error)
    } finally {
      input.value = ''
      setBusy(false)
    }
  }
  return (
    <>
      <label className="upload" aria-busy={busy}>
        {translate('upload')}
        <input
          id={id}
          type="file"
          multiple={multiple}
          aria-disabled={busy || undefined}
          accept={
            mimesOf(kinds)
              .map(mime => `${mime}*`)
              .join(',') || undefined
          }
          onChange={event => void change(event)}
        />
      </label>
      {fault !== null && (
        <p className="fault" role="alert">
          {describeFault(fault, translate)}
        </p>
      )}
    </>
  )
}
