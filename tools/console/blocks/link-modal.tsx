import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useSlate } from 'slate-react'
import { useWords } from '../shell/i18n.tsx'
import { Modal } from '../shell/modal.tsx'
import { completeAddress } from './addresses.ts'
import { linkAt, removeLink, setLink } from './commands.ts'
import { focusEditor } from './focus-editor.ts'

export function LinkModal({ onClose }: { readonly onClose: () => void }) {
  const words = useWords()
  const editor = useSlate()
  const id = useId()
  const existing = linkAt(editor)
  const [typed, setTyped] = useState(existing ?? '')
  const [refused, setRefused] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  // After the dialog has opened, which focuses its first button.
  useEffect(() => input.current?.focus(), [])
  // The editor takes no focus while the dialog is open.
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
    <Modal title={words('addLink')} onClose={onClose}>
      <label htmlFor={id}>{words('linkAddress')}</label>
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
        {words('linkAddressHelp')}
      </p>
      {refused && (
        <p className="fault" role="alert">
          {words('invalidAddress')}
        </p>
      )}
      <footer>
        {existing !== null && (
          <button type="button" onClick={remove}>
            {words('removeLink')}
          </button>
        )}
        <button type="button" onClick={onClose}>
          {words('cancel')}
        </button>
        <button type="button" className="primary" onClick={apply}>
          {words('done')}
        </button>
      </footer>
    </Modal>
  )
}
