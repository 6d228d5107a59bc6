import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { createEditor, type Editor } from 'slate'
import { withHistory } from 'slate-history'
import { Editable, Slate, useSlate, withReact } from 'slate-react'
import type { JsonValue } from '../api/json.ts'
import { asText } from '../api/json.ts'
import { toLabel } from '../api/schema.ts'
import type { InputProps } from '../fields/field-props.ts'
import { Library } from '../media/library.tsx'
import { useTranslate } from '../shell/i18n.tsx'
import { Modal } from '../shell/modal.tsx'
import { completeAddress } from './addresses.ts'
import {
  insertPicture,
  languageAt,
  linkAt,
  moveBlock,
  pictureAt,
  removeLink,
  STYLES,
  setLanguage,
  setLink,
  setPicture,
  setStyle,
  toggleMark,
} from './commands.ts'
import { BlockElementView, BlockLeafView } from './elements.tsx'
import { focusEditor } from './focus-editor.ts'
import { toNodes } from './nodes.ts'
import { BlocksToolbar } from './toolbar.tsx'
import { editorDocument, indent, outdent, withBlocks } from './with-blocks.ts'

type Dialog = 'link' | 'picture' | null

interface BlocksEditorProps extends Omit<InputProps, 'onChange'> {
  readonly onChange: (value: JsonValue) => void
}

export function BlocksEditor(props: BlocksEditorProps) {
  const translate = useTranslate()
  const { id, attribute, value, dir, describedBy, invalid, readOnly, onChange } = props
  const toolbar = useId()
  const [editor] = useState(() => withBlocks(withHistory(withReact(createEditor()))))
  const [initial] = useState(() => toNodes(value))
  const [dialog, setDialog] = useState<Dialog>(null)
  const close = () => setDialog(null)
  return (
    <Slate editor={editor} initialValue={initial} onValueChange={() => onChange(editorDocument(editor))}>
      {!readOnly && (
        <BlocksToolbar
          id={toolbar}
          controls={id}
          onLink={() => setDialog('link')}
          onPicture={() => setDialog('picture')}
        />
      )}
      <Editable
        id={id}
        className="blocks-text"
        dir={dir}
        readOnly={readOnly}
        aria-label={toLabel(attribute.name)}
        aria-multiline
        aria-invalid={invalid || undefined}
        aria-readonly={readOnly || undefined}
        aria-describedby={[describedBy, `${id}-keys`].filter(Boolean).join(' ')}
        renderElement={BlockElementView}
        renderLeaf={BlockLeafView}
        onKeyDown={event => {
          if (event.altKey && event.key === 'F10') {
            event.preventDefault()
            document.getElementById(toolbar)?.querySelector<HTMLElement>('[tabindex="0"]')?.focus()
          } else if (isLinkKey(event)) {
            event.preventDefault()
            setDialog('link')
          } else pressKey(editor, event)
        }}
      />
      {!readOnly && <BlockSettings id={id} />}
      <p id={`${id}-keys`} className="help">
        {translate('blocksHelp')}
      </p>
      {dialog === 'link' && <LinkModal onClose={close} />}
      {dialog === 'picture' && <PictureModal editor={editor} onClose={close} />}
    </Slate>
  )
}

const isLinkKey = ({ key, ctrlKey, metaKey }: KeyboardEvent): boolean =>
  (ctrlKey || metaKey) && key.toLowerCase() === 'k'

const MARK_KEYS: Readonly<Record<string, 'bold' | 'italic' | 'underline' | 'code'>> = {
  b: 'bold',
  i: 'italic',
  u: 'underline',
  e: 'code',
}

function pressKey(editor: Editor, event: KeyboardEvent): void {
  const command = commandOf(event)
  if (!command) return
  event.preventDefault()
  command(editor)
}

function commandOf({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent) {
  const control = ctrlKey || metaKey
  if (altKey && !control && key === 'ArrowUp') return (editor: Editor) => moveBlock(editor, -1)
  if (altKey && !control && key === 'ArrowDown') return (editor: Editor) => moveBlock(editor, 1)
  if (!control) return undefined
  if (altKey) {
    const style = /^[0-6]$/.test(key) ? STYLES[Number(key)] : undefined
    return style && ((editor: Editor) => setStyle(editor, style))
  }
  if (key === ']') return indent
  if (key === '[') return outdent
  if (shiftKey && key.toLowerCase() === 'x') return (editor: Editor) => toggleMark(editor, 'strikethrough')
  const mark = MARK_KEYS[key.toLowerCase()]
  return mark && !shiftKey ? (editor: Editor) => toggleMark(editor, mark) : undefined
}

/** Inputs for the properties of the current block: language of code, alternative text of a picture. */
function BlockSettings({ id }: { readonly id: string }) {
  const translate = useTranslate()
  const editor = useSlate()
  const language = languageAt(editor)
  const picture = pictureAt(editor)
  return (
    <>
      {language !== null && (
        <label htmlFor={`${id}-language`}>
          {translate('codeLanguage')}
          <input
            id={`${id}-language`}
            value={language}
            onChange={event => setLanguage(editor, event.target.value)}
          />
        </label>
      )}
      {picture !== null && (
        <label htmlFor={`${id}-alternative`}>
          {translate('alternativeText')}
          <input
            id={`${id}-alternative`}
            dir="auto"
            value={asText(picture.alternativeText)}
            onChange={event => setPicture(editor, { alternativeText: event.target.value })}
          />
        </label>
      )}
    </>
  )
}

interface PictureModalProps {
  readonly editor: Editor
  readonly onClose: () => void
}

function PictureModal({ editor, onClose }: PictureModalProps) {
  const translate = useTranslate()
  return (
    <Modal title={translate('library')} wide onClose={onClose}>
      <Library kinds={['image/']}>
        {file => (
          <button
            type="button"
            onClick={() => {
              insertPicture(editor, file)
              onClose()
              focusEditor(editor)
            }}
          >
            {translate('choose')} <span className="hidden-text">{asText(file.name)}</span>
          </button>
        )}
      </Library>
    </Modal>
  )
}

function LinkModal({ onClose }: { readonly onClose: () => void }) {
  const translate = useTranslate()
  const editor = useSlate()
  const id = useId()
  const existing = linkAt(editor)
  const [typed, setTyped] = useState(existing ?? '')
  const [refused, setRefused] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  // showModal focuses the first button; this effect runs after it.
  useEffect(() => input.current?.focus(), [])
  // The editor cannot take the focus before the dialog is closed.
  useEffect(() => () => focusEditor(editor), [editor])
  const apply = () => {
    const address = completeAddress(typed)
    if (address === null) return setRefused(true)
    setLink(editor, address)
    onClose()
  }
  const remove = () => {
    removeLink(editor)
    onClose()
  }
  const applyOnEnter = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return
    event.preventDefault()
    apply()
  }
  return (
    <Modal title={translate('addLink')} onClose={onClose}>
      <label htmlFor={id}>{translate('linkAddress')}</label>
      <input
        id={id}
        dir="ltr"
        ref={input}
        value={typed}
        aria-describedby={`${id}-help`}
        aria-invalid={refused || undefined}
        onChange={event => setTyped(event.target.value)}
        onKeyDown={applyOnEnter}
      />
      <p id={`${id}-help`} className="help">
        {translate('linkAddressHelp')}
      </p>
      {refused && (
        <p className="fault" role="alert">
          {translate('invalidAddress')}
        </p>
      )}
      <LinkActions onRemove={existing === null ? null : remove} onCancel={onClose} onApply={apply} />
    </Modal>
  )
}

interface LinkActionsProps {
  /** null: there is no link yet. */
  readonly onRemove: (() => void) | null
  readonly onCancel: () => void
  readonly onApply: () => void
}

function LinkActions({ onRemove, onCancel, onApply }: LinkActionsProps) {
  const translate = useTranslate()
  return (
    <footer>
      {onRemove && (
        <button type="button" onClick={onRemove}>
          {translate('removeLink')}
        </button>
      )}
      <button type="button" onClick={onCancel}>
        {translate('cancel')}
      </button>
      <button type="button" className="primary" onClick={onApply}>
        {translate('done')}
      </button>
    </footer>
  )
}
