import { type FormEvent, type MouseEvent, useState } from 'react'
import { asText, isJsonObject, type JsonRecord } from '../api/json.ts'
import { useTranslate } from '../shell/i18n.tsx'
import { Modal } from '../shell/modal.tsx'
import { describeFault } from '../shell/notices.tsx'
import { type FileMetadata, saveMetadata } from './files.ts'

/** The smallest format of an image, or the extension of another file. */
export function FilePicture({ file }: { readonly file: JsonRecord }) {
  const mime = asText(file.mime)
  if (!mime.startsWith('image/')) return <span className="file-kind">{asText(file.ext) || mime}</span>
  const formats = isJsonObject(file.formats) ? file.formats : {}
  const small = isJsonObject(formats.thumbnail) ? formats.thumbnail : file
  return (
    <img className="thumbnail" src={asText(small.url)} alt={asText(file.alternativeText)} loading="lazy" />
  )
}

interface FileModalProps {
  readonly file: JsonRecord
  readonly onSaved: (file: JsonRecord) => void
  readonly onClose: () => void
}

export function FileModal({ file, onSaved, onClose }: FileModalProps) {
  const translate = useTranslate()
  const [fault, setFault] = useState<unknown>(null)
  const [focalPoint, setFocalPoint] = useState(readPoint(file))
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    event.stopPropagation()
    const data = new FormData(event.currentTarget)
    const text = (name: string): string => String(data.get(name) ?? '')
    const saved: FileMetadata = {
      name: text('name'),
      alternativeText: text('alternativeText'),
      caption: text('caption'),
      focalPoint,
    }
    saveMetadata(file.id ?? null, saved)
      .then(onSaved)
      .catch(setFault)
  }
  return (
    <Modal title={asText(file.name)} wide onClose={onClose}>
      <form onSubmit={submit}>
        {fault !== null && (
          <p className="fault" role="alert">
            {describeFault(fault, translate)}
          </p>
        )}
        {asText(file.mime).startsWith('image/') && (
          <FocalPoint file={file} point={focalPoint} onPoint={setFocalPoint} />
        )}
        {(['name', 'alternativeText', 'caption'] as const).map(name => (
          <label key={name}>
            {translate(name)}
            <input name={name} defaultValue={asText(file[name])} dir="auto" />
          </label>
        ))}
        <footer>
          <button type="button" onClick={onClose}>
            {translate('cancel')}
          </button>
          <button type="submit" className="primary">
            {translate('save')}
          </button>
        </footer>
      </form>
    </Modal>
  )
}

type Point = FileMetadata['focalPoint']

function readPoint(file: JsonRecord): Point {
  const point = isJsonObject(file.focalPoint) ? file.focalPoint : null
  return typeof point?.x === 'number' && typeof point.y === 'number' ? { x: point.x, y: point.y } : null
}

interface FocalPointProps {
  readonly file: JsonRecord
  readonly point: Point
  readonly onPoint: (point: Point) => void
}

/** The focal point for cropping, set by a click or by two numbers (percent). */
function FocalPoint({ file, point, onPoint }: FocalPointProps) {
  const translate = useTranslate()
  const setByClick = (event: MouseEvent<HTMLImageElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    onPoint({
      x: Math.round(((event.clientX - box.left) / box.width) * 100),
      y: Math.round(((event.clientY - box.top) / box.height) * 100),
    })
  }
  const { x, y } = point ?? { x: 50, y: 50 }
  return (
    <div className="focal">
      <div className="focal-frame">
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the number inputs below do the same from the keyboard. */}
        <img src={asText(file.url)} alt={asText(file.alternativeText)} onClick={setByClick} />
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
          <circle cx={x} cy={y} r="3" />
        </svg>
      </div>
      <fieldset>
        <legend>{translate('focalPoint')}</legend>
        {(['x', 'y'] as const).map(axis => (
          <label key={axis}>
            {translate(axis === 'x' ? 'fromStart' : 'fromTop')}
            <input
              type="number"
              min={0}
              max={100}
              value={axis === 'x' ? x : y}
              onChange={event => onPoint({ x, y, [axis]: Number(event.target.value) })}
            />
          </label>
        ))}
      </fieldset>
    </div>
  )
}
